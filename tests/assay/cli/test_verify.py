"""Tests of ``assay verify``: changed bundles."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli import main
from assay.formats import FORMATS

EXAMPLE = FORMATS["trec-qrels"].example


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text(EXAMPLE)
    (tmp_path / "manifest.json").write_text(FORMATS["manifest"].example)
    return tmp_path


@pytest.mark.parametrize("name", ["", "manifest.json"])
def test_a_bundle_as_it_was(bundle: Path, name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["verify", str(bundle / name)]) == 0
    assert "1 file matches the manifest" in capsys.readouterr().out


def test_a_bundle_that_was_touched(bundle: Path, capsys: pytest.CaptureFixture[str]):
    (bundle / "qrels.txt").write_text(EXAMPLE + "q9 0 d 1\n")
    assert main(["verify", str(bundle)]) == 1
    assert capsys.readouterr().out.startswith("different: qrels.txt\n")


def test_no_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["verify", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
