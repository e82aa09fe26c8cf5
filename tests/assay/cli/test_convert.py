"""Tests of ``assay convert``: the rows in another format, or an error and no output."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.cli import main
from tests.assay.conftest import Call

QRELS = "q1 0 d1 3\nq1 0 d2 0\nq2 0 d1 1\n"
QUERIES = "query_id,query\nq1,tent\nq2,boots\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "queries.csv").write_text(QUERIES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_qrels_become_a_judgment_list_and_return(folder: Path):
    assert (
        main(["convert", "qrels.txt", "--to", "judgment-list", "--queries", "queries.csv", "--out", "list.json"]) == 0
    )
    assert [entry["query"] for entry in json.loads((folder / "list.json").read_text())] == ["tent", "boots"]
    assert main(["convert", "list.json", "--to", "trec-qrels", "--out", "back.txt"]) == 0
    assert (folder / "back.txt").read_text() == QRELS.replace(" 0 d", " 2 d")


def test_standard_input_and_output(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]):
    assert main(["convert", "qrels.txt", "--to", "beir-qrels"]) == 0
    assert capfdbinary.readouterr().out == b"query-id\tcorpus-id\tscore\nq1\td1\t3\nq1\td2\t0\nq2\td1\t1\n"


def test_a_name_in_gz_is_compressed_and_the_same_every_time(folder: Path):
    for name in ("a.txt.gz", "b.txt.gz"):
        assert main(["convert", "qrels.txt", "--to", "trec-qrels", "--out", name]) == 0
    assert gzip.decompress((folder / "a.txt.gz").read_bytes()).decode() == QRELS
    assert (folder / "a.txt.gz").read_bytes() == (folder / "b.txt.gz").read_bytes()


def test_a_bad_line_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "bad.txt").write_text(QRELS + "q3 0 d1\n")
    arguments = ["convert", "bad.txt", "--from", "trec-qrels", "--to", "beir-qrels", "--out", "out.tsv"]
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("assay convert: bad.txt:4: 3 fields instead of 4; expected 4 fields")
    assert not (folder / "out.tsv").exists()
    assert main([*arguments, "--skip-errors"]) == 0
    assert "1 error; these rows were left out" in capsys.readouterr().err
    assert (folder / "out.tsv").read_text().count("\n") == 4


def test_columns_are_mapped(folder: Path):
    (folder / "log.csv").write_text("term,n\ntent,12\n")
    words = (
        "convert log.csv --from query-log-csv --to query-log-jsonl --column query=term --column count=n --out log.jsonl"
    )
    assert main(words.split()) == 0
    assert (folder / "log.jsonl").read_text() == '{"query": "tent", "count": 12}\n'


def test_ids_are_encoded_with_their_list(folder: Path):
    (folder / "spaced.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tmy doc\t1\n")
    assert main(["convert", "spaced.tsv", "--to", "trec-qrels", "--out", "q.txt"]) == 2
    assert main(["convert", "spaced.tsv", "--to", "trec-qrels", "--out", "q.txt", "--encode-ids"]) == 0
    assert (folder / "q.txt").read_text() == "q1 2 my%20doc 1\n"
    assert (folder / "idmap.tsv").read_text() == "my%20doc\tmy doc\n"


def test_anything_with_pairs_becomes_pairs(folder: Path):
    assert main(["convert", "qrels.txt", "--to", "pairs-csv", "--out", "pairs.csv"]) == 0
    assert (folder / "pairs.csv").read_text() == "query_id,doc_id\nq1,d1\nq1,d2\nq2,d1\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "convert qrels.txt --to trec-run",
            "cannot convert qrels (trec-qrels) to run (trec-run); possible formats: trec-qrels",
        ),
        ("convert qrels.txt --to trec-run", "qrels-parquet, quepid-basic-csv,"),
        ("convert qrels.txt --to trec-qrel", "'trec-qrel'; did you mean trec-qrels"),
        (
            "convert qrels.txt --to judgment-list",
            "query 'q1' has no text, which judgment-list needs; add the texts (--queries",
        ),
        ("convert none.txt --to trec-qrels", "none.txt: cannot be opened: No such file or directory"),
        ("convert - --to trec-qrels", "name it (convert: --from"),
        ("convert qrels.txt --to beir-qrels --tag x", "--tag does not apply"),
        ("convert qrels.txt --to beir-qrels --repeated sum", "has no option repeated"),
        ("convert qrels.txt --to beir-qrels --scale 3", "MIN:MAX"),
        ("convert qrels.txt --to beir-qrels --column x", "NAME=COLUMN"),
        ("convert qrels.txt", "--to"),
    ],
)
def test_an_error_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str], words: str, message: str):
    try:
        status = main(words.split())
    except SystemExit as stop:
        status = int(stop.code or 0)
    error = capsys.readouterr().err
    assert (status, error.count("\n")) == (2, 1)
    assert message in error


def test_settings_of_the_target_format(assay: Call) -> None:
    Path("labels.csv").write_text("query,docid,rating\nrope,d1,2\n")
    Path("search.json").write_text('{"query": {"match": {"title": "{{query}}"}}}')
    words = ("convert", "labels.csv", "--to", "rank-eval-request")
    status, out, _ = assay(*words, "--set", "index=shop", "--set", "template=@search.json")
    (request,) = json.loads(out)["requests"]
    assert status == 0
    assert request["request"] == {"query": {"match": {"title": "rope"}}}
    assert request["ratings"] == [{"_index": "shop", "_id": "d1", "rating": 2}]
    for setting in ("index", "size=3", "template=@absent.json"):
        status, out, err = assay(*words, "--set", setting)
        assert (status, out, err.count("\n") - err.count("note:")) == (2, "", 1)


def test_queries_without_ids_are_numbered_or_get_the_ids_of_a_file(assay: Call) -> None:
    Path("labels.csv").write_text("query,docid,rating\nrope,d1,2\ntent,d1,0\n")
    words = ("convert", "labels.csv", "--to", "trec-qrels")
    status, out, err = assay(*words)
    assert (status, out, err.startswith("note:")) == (0, "q001 0 d1 2\nq002 0 d1 0\n", True)
    Path("ids.csv").write_text("query_id,query\nB,tent\nA,rope\n")
    assert assay(*words, "--queries", "ids.csv")[:2] == (0, "A 0 d1 2\nB 0 d1 0\n")
    for content in ("query_id,query\nA,rope\n", "query_id,query\nA,rope\nB,tent\nC,tent\n"):
        Path("ids.csv").write_text(content)
        assert assay(*words, "--queries", "ids.csv")[0] == 2


def test_files_for_annotation_tools_have_texts_and_users(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "ratings.csv").write_text("query_id,query,doc_id,rater,grade\nq1,tent,d1,r01,3\n")
    (folder / "docs.jsonl").write_text('{"doc_id": "d1", "title": "A", "text": "tent"}\n')
    (folder / "users.json").write_text('{"r01": "jo@host.example"}')
    words = ["convert", "ratings.csv", "--to", "label-studio-json", "--documents", "docs.jsonl"]
    assert main([*words, "--set", "users=@users.json", "--out", "tasks.json"]) == 0
    (task,) = json.loads((folder / "tasks.json").read_text())
    assert task["data"] == {"query_id": "q1", "query": "tent", "doc_id": "d1", "text": "A tent"}
    assert task["annotations"][0]["completed_by"] == {"email": "jo@host.example"}
    assert "note" not in capsys.readouterr().err
    assert main([*words, "--out", "tasks.json"]) == 0
    assert "cannot store names of raters: written as addresses that no account has" in capsys.readouterr().err
    assert main([*words, "--set", "users=r01", "--out", "other.json"]) == 2
    assert not (folder / "other.json").exists()


def test_labels_of_one_judge_become_suggestions(folder: Path, capsys: pytest.CaptureFixture[str]):
    label = '{"query_id": "q1", "doc_id": "d1", "outcome": "graded", "grade": %d, "judge": "graded", "model": "%s"}\n'
    (folder / "labels.jsonl").write_text(label % (3, "m1") + label % (2, "m2"))
    words = [
        "convert",
        "labels.jsonl",
        "--to",
        "argilla-suggestions-json",
        "--queries",
        "queries.csv",
        "--out",
        "out.json",
    ]
    assert main(words) == 2
    assert "select one judge (--labels-of JUDGE)" in capsys.readouterr().err
    assert main([*words, "--labels-of", "m2"]) == 0
    (record,) = json.loads((folder / "out.json").read_text())
    assert (record["fields"], record["suggestions"]["grade"]["agent"]) == ({"query": "tent"}, "graded m2")
    words = [
        "convert",
        "labels.jsonl",
        "--to",
        "umbrela-judgments-jsonl",
        "--queries",
        "queries.csv",
        "--out",
        "u.jsonl",
    ]
    assert main([*words, "--labels-of", "m2"]) == 2
    assert "add the texts (--documents FILE)" in capsys.readouterr().err
