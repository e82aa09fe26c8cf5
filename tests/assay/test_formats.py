"""Does ``assay formats`` tell of every format, and do the docs?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assay.cli import main
from judgments.formats import FORMATS
from judgments.formats.codes import CODES
from judgments.formats.document import page

DOCS = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


def test_every_format_is_listed(capsys: pytest.CaptureFixture[str]):
    assert main(["formats"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in FORMATS)


def test_one_kind(capsys: pytest.CaptureFixture[str]):
    main(["formats", "--kind", "queries", "--format", "json"])
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)] == [
        "queries-csv",
        "queries-jsonl",
        "queries-tsv",
    ]


def test_an_unknown_kind_ends_with_two(capsys: pytest.CaptureFixture[str]):
    assert main(["formats", "--kind", "runs"]) == 2
    assert "there is no kind 'runs'; known: qrels, run, " in capsys.readouterr().err


@pytest.mark.parametrize("name", FORMATS)
def test_each_is_explained_with_its_example(name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["formats", name]) == 0
    assert capsys.readouterr().out.endswith(FORMATS[name].example)


def test_the_page_is_what_the_formats_say():
    written = DOCS.read_text(encoding="utf-8")
    assert written == page(), "run python -m judgments.formats.document > docs/formats.md"


@pytest.mark.parametrize("name", FORMATS)
def test_the_example_of_each_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    section = page().partition(f"### `{name}`")[2].partition("\n### ")[0]
    example = section.partition("```\n")[2].partition("```")[0]
    words = section.partition("Checked by `assay ")[2].partition("`")[0].split()
    monkeypatch.chdir(tmp_path)
    Path("FILE.csv" if FORMATS[name].binary else words[1]).write_text(example, encoding="utf-8")
    if FORMATS[name].binary:
        assert main(section.partition("become such a file by `assay ")[2].partition("`")[0].split()) == 0
    # A run of ranks alone always says what stands for its scores.
    assert main([*words, *([] if name == "msmarco-run" else ["--strict"])]) == 0


def test_every_code_that_a_reader_gives_is_explained():
    folder = DOCS.parents[1] / "judgments"
    readers = [*folder.glob("core/*.py"), *folder.glob("formats/*.py"), folder / "queries.py"]
    readers.append(DOCS.parents[1] / "pooling" / "query_logs.py")
    sources = "".join(path.read_text() for path in readers if path.name != "codes.py")
    assert set(re.findall(r'"([EFW]\d\d)"', sources)) == set(CODES)
