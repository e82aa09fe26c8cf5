"""Members that installed packages add to a family."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgments.core.errors import UnknownName
from judgments.core.family import Family


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with a member for the group assay.tests."""
    (tmp_path / "outside_member.py").write_text("MEMBER = 'from outside'\n")
    metadata = tmp_path / "outside-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[assay.tests]\nouter = outside_member:MEMBER\n")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("package")
def test_a_package_adds_a_member() -> None:
    family = Family[str]("test", {"floor": "math:floor"}, group="assay.tests")
    assert list(family) == ["floor", "outer"]
    assert family["outer"] == "from outside"


@pytest.mark.usefixtures("package")
def test_a_package_of_another_group_adds_nothing() -> None:
    family = Family[str]("test", {"floor": "math:floor"}, group="assay.others")
    assert list(family) == ["floor"]
    with pytest.raises(UnknownName):
        family["outer"]
