"""Tests of ``assay formats`` and the documentation of formats."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assay.cli import main
from assay.formats import FORMATS
from assay.formats.reference_page import CODES, foreign, page
from tests.assay.formats.test_contract import INHERENT

DOCS = Path(__file__).resolve().parents[3] / "docs" / "formats.md"
ROOMS = ("assay", "evaluation", "judgments", "pooling")


def test_every_format_is_listed(capsys: pytest.CaptureFixture[str]):
    assert main(["formats"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in FORMATS)


def test_one_kind(capsys: pytest.CaptureFixture[str]):
    main(["formats", "--kind", "queries", "--format", "json"])
    names = [entry["name"] for entry in json.loads(capsys.readouterr().out)]
    assert names[:3] == ["queries-csv", "queries-jsonl", "queries-tsv"]
    assert names == [name for name, member in FORMATS.items() if member.kind == "queries"]


def test_an_unknown_kind_ends_with_two(capsys: pytest.CaptureFixture[str]):
    assert main(["formats", "--kind", "runs"]) == 2
    assert "unknown kind 'runs'; known: qrels, run, " in capsys.readouterr().err


@pytest.mark.parametrize("name", FORMATS)
def test_each_is_explained_with_its_example(name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["formats", name]) == 0
    assert capsys.readouterr().out.endswith(FORMATS[name].example)


def test_the_page_is_what_the_formats_say():
    written = DOCS.read_text(encoding="utf-8")
    assert written == page(), "run python -m assay.formats.reference_page > docs/formats.md"


@pytest.mark.parametrize("name", FORMATS)
def test_the_example_of_each_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    section = page().partition(f"### `{name}`")[2].partition("\n### ")[0]
    example = section.partition("```\n")[2].partition("```")[0]
    words = section.partition("Check a file with `assay ")[2].partition("`")[0].split()
    monkeypatch.chdir(tmp_path)
    Path("FILE.csv" if FORMATS[name].binary else words[1]).write_text(example, encoding="utf-8")
    if FORMATS[name].binary:
        assert main(section.partition("from the rows below with `assay ")[2].partition("`")[0].split()) == 0
    # Some formats always have a warning, such as a run of ranks alone, which says what stands for its scores.
    assert main([*words, *([] if name in INHERENT else ["--strict"])]) == 0


def test_every_code_has_one_entry_and_is_documented():
    root = DOCS.parents[1]
    declared = root / "assay" / "formats" / "reference_page.py"
    sources = [path for room in ROOMS for path in (root / room).rglob("*.py") if path != declared]
    given = {code for path in sources for code in re.findall(r'"([EFW]\d\d)"', path.read_text())}
    assert given == set(CODES)
    entries = re.findall(r'^    "(\w+)": Code\(', declared.read_text(), re.MULTILINE)
    assert entries == sorted(set(entries), key=lambda code: ("FEW".index(code[0]), code))
    assert len({entry.meaning for entry in CODES.values()}) == len(CODES)
    on_pages = {code for path in DOCS.parent.glob("*.md") for code in re.findall(r"\b[EFW]\d\d\b", path.read_text())}
    assert on_pages == set(CODES)


def test_enough_formats_of_other_tools_are_read_and_written():
    assert len(foreign()) >= 25
    assert len(foreign(written=True)) >= 20
