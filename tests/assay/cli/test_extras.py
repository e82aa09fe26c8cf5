"""Tests of missing libraries: every command names the extra that installs them."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from assay.cli import EXTRAS, missing
from tests.assay.cli.test_docs import SERVER, examples, write_log_and_snapshot
from tests.assay.conftest import FILES

ROOT = Path(__file__).resolve().parents[3]
# The commands run in a process in which a library cannot be imported, as if it were not installed.
RUN = """
import contextlib, io, json, shlex, sys
for library in sys.argv[1].split(","):
    sys.modules[library] = None
from assay.cli import main
told = []
for line in json.load(sys.stdin):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(shlex.split(line)[1:])
        except SystemExit as end:
            status = end.code
    err.seek(0)
    told.append([line, status, err.read()])
print(json.dumps(told))
"""
MORE = [
    "assay convert ratings.csv --to ratings-xlsx --out ratings.xlsx",
    "assay sample log.csv --method pps --n 3",
    "assay sample log.csv --method pps --n 3 --detect 0.1 --out never.csv",
    "assay pool bm25.run neural.run --documents docs.jsonl --duplicates near",
    "assay judge pairs.jsonl --judge semantic --out semantic.jsonl",
    "assay judge pairs.jsonl --judge graded --base-url http://127.0.0.1:9/v1 --model m "
    "--guidelines rules.md --scale 0:3 --max-calls 2 --out model.jsonl",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("libraries", "needed_by"),
    [
        ("polars", {"sample", "stratum"}),
        ("scipy,sklearn", {"clicks", "zelo", "pool", "sample"}),
        ("httpx,sentence_transformers", {"judge"}),
        ("openpyxl", {"convert"}),
    ],
)
def test_a_missing_library_ends_with_one_line(tmp_path: Path, libraries: str, needed_by: set[str]) -> None:
    blocked = libraries.split(",")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "docs.jsonl").write_text("".join(f'{{"doc_id": "d{n}", "text": "a hat {n}"}}\n' for n in range(9)))
    (tmp_path / "rules.md").write_text("Grade what is relevant.")
    write_log_and_snapshot(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", RUN, libraries],
        input=json.dumps([line for line in (*examples("cli.md"), *MORE) if line.split()[1] not in SERVER]),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        check=False,
    )
    assert not done.returncode, done.stderr
    refused = [(line.split()[1], err) for line, status, err in json.loads(done.stdout) if status not in (0, 1)]
    missed = [(name, err) for name, err in refused if any(f"'assay[{EXTRAS[one]}]'" in err for one in blocked)]
    assert {name for name, _ in missed} >= needed_by
    assert [err for _, err in missed if err.count("\n") != 1] == []
    # This test environment has no sentence-transformers.
    assert [err for name, err in refused if (name, err) not in missed and "assay[semantic]" not in err] == []
    assert not (tmp_path / "never.csv").exists() or "scipy" not in blocked


def test_each_extra_that_is_named_brings_its_library() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    called = {
        "sklearn": "scikit-learn",
        "sentence_transformers": "sentence-transformers",
        "rouge_score": "rouge-score",
        "bert_score": "bert-score",
        "ir_datasets": "ir-datasets",
    }
    for library, extra in EXTRAS.items():
        assert any(one.startswith(called.get(library, library)) for one in extras[extra]), library


def test_a_module_of_ours_that_is_missing_is_a_mistake_in_the_program() -> None:
    with pytest.raises(ModuleNotFoundError):
        missing(ModuleNotFoundError("no", name="judgments.nowhere"))
