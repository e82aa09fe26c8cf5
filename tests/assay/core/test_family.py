"""Members that installed packages add to a family."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import UnknownName
from assay.core.registry import Family


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with a member for the group assay.tests."""
    (tmp_path / "outside_member.py").write_text("MEMBER = 'from outside'\n")
    metadata = tmp_path / "outside-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[assay.more]\nother = nowhere:MEMBER\n\n"
        "[assay.tests]\n# a note = x\nouter = outside_member:MEMBER\nwhole=outside_member [extra]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("package")
def test_a_package_adds_a_member() -> None:
    family = Family[Any]("test", {"floor": "math:floor"}, group="assay.tests")
    assert list(family) == ["floor", "outer", "whole"]
    assert family["outer"] == "from outside"
    assert family["whole"].MEMBER == "from outside"


@pytest.mark.usefixtures("package")
def test_a_package_cannot_take_a_name() -> None:
    with pytest.raises(ValueError, match="outer"):
        list(Family[str]("test", {"outer": "math:floor"}, group="assay.tests"))


@pytest.mark.usefixtures("package")
def test_members_of_packages_cost_no_import_of_importlib_metadata() -> None:
    code = "import sys; from assay.core.registry import Family; list(Family('t', {}, 'assay.tests')); "
    code += "assert 'importlib.metadata' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[3])


@pytest.mark.usefixtures("package")
def test_a_package_of_another_group_adds_nothing() -> None:
    family = Family[str]("test", {"floor": "math:floor"}, group="assay.others")
    assert list(family) == ["floor"]
    with pytest.raises(UnknownName):
        family["outer"]
