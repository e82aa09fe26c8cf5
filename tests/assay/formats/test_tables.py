"""Tests of label and run tables across formats: equal tables, golden bytes, detection by content."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import polars
import pytest

from assay.core.errors import NotValid, UnknownName, UnreadableInput
from assay.core.run import Run
from assay.formats import FORMATS, sniff
from assay.formats.qrels_and_runs import load_qrels, load_run, open_run
from assay.formats.row_types import LabelRow, RunRow
from assay.formats.trec_run import Interleaved
from tests.assay.formats.table_bytes import PAIR, label_rows, parquet, run_rows, written

SCORES = {"q1": {"d1": 12.5, "my doc": 11.25, "d3": -0.1}, "q2": {"gr\u00fcn": 1e-5, "d1": 7.0}}
GRADES = {"q1": {"d1": 3, "my doc": 0}, "q2": {"gr\u00fcn": 1}}
# Neither TREC files nor MS MARCO's carry blanks in ids.
RUNS = [
    name
    for name, member in FORMATS.items()
    if member.kind == "run" and not member.by_text and name not in ("trec-run", "msmarco-run")
]
QRELS = [
    name
    for name, member in FORMATS.items()
    if member.kind == "qrels"
    and not member.by_text
    and name not in ("trec-qrels", "judgment-list", "lara-csv", "ltr", "rank-eval-request")
]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_the_same_in_every_format(name: str, pack: Callable[[bytes], bytes]):
    run, report = load_run(pack(written(name, run_rows(SCORES))), "a", "bm25")
    assert (run, report.format, report.ok) == (Run.from_dict(SCORES, "bm25"), name, True)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", QRELS)
def test_qrels_are_the_same_in_every_format(name: str, pack: Callable[[bytes], bytes]):
    qrels, report = load_qrels(pack(written(name, label_rows(GRADES))), "a")
    assert (qrels.to_dict(), report.format, report.ok) == (GRADES, name, True)


def test_golden_bytes():
    rows, labels = run_rows(SCORES), label_rows(GRADES)
    assert written("run-json", rows).decode() == (
        '{\n  "q1": {"d1": 12.5, "my doc": 11.25, "d3": -0.1},\n  "q2": {"d1": 7.0, "gr\u00fcn": 1e-05}\n}\n'
    )
    assert written("qrels-json", labels).decode() == (
        '{\n  "q1": {"d1": 3, "my doc": 0},\n  "q2": {"gr\u00fcn": 1}\n}\n'
    )
    assert written("run-jsonl", rows[:1]) == b'{"query_id": "q1", "doc_id": "d1", "rank": 1, "score": 12.5}\n'
    assert written("qrels-jsonl", labels[:1]) == b'{"query_id": "q1", "doc_id": "d1", "grade": 3}\n'
    assert written("run-csv", rows[:2]) == b"query_id,doc_id,rank,score\nq1,d1,1,12.5\nq1,my doc,2,11.25\n"
    assert written("qrels-csv", label_rows({"=q": {'a,"b"': 0}})) == b'query_id,doc_id,grade\n\'=q,"a,""b""",0\n'
    assert written("msmarco-run", run_rows({"q1": {"d1": 1.0, "d2": 1.0}})) == b"q1\td2\t1\nq1\td1\t2\n"
    assert [written(name, []) for name in ("run-json", "qrels-json", "run-jsonl")] == [b"{}\n", b"{}\n", b""]


@pytest.mark.parametrize("name", ["run-parquet", "qrels-parquet"])
def test_parquet_is_written_as_ranx_reads_it(name: str):
    rows: list[Any] = run_rows(SCORES) if name.startswith("run") else label_rows(GRADES)
    frame = polars.read_parquet(io.BytesIO(written(name, rows)))
    number = polars.Float64 if name.startswith("run") else polars.Int64
    assert dict(frame.schema) == {"q_id": polars.String, "doc_id": polars.String, "score": number}
    assert dict(polars.read_parquet(io.BytesIO(written(name, []))).schema) == dict(frame.schema)


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("run-json", [RunRow("q1", "d1", float("inf"))], "cannot contain the score inf"),
        ("run-jsonl", [RunRow("q1", "d1", float("-inf"))], "cannot contain the score -inf"),
        ("qrels-json", [LabelRow("q1", "d1", 2.5)], "2.5 is not a whole number"),
        ("msmarco-run", [RunRow("q1", "my doc", 1.0)], "'my doc'"),
        ("run-parquet", [RunRow("q1", "\ud800", 1.0)], "cannot contain these ids"),
    ],
)
def test_values_a_format_cannot_store_are_refused(name: str, rows: list[Any], message: str):
    with pytest.raises(NotValid, match=message):
        written(name, rows)


def test_dropped_tags_are_reported():
    member = FORMATS["run-json"]
    assert member.write is not None
    done = member.write([RunRow("q1", "d1", 1.0, tag="bm25")], io.BytesIO())
    assert done.notes == ("run-json cannot store tags; left out: bm25",)


@pytest.mark.parametrize("name", ["run-jsonl", "run-csv", "msmarco-run"])
def test_large_files_come_in_pieces(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.formats.json_pairs.PIECE", 200)
    monkeypatch.setattr("assay.formats.delimited_pairs.PIECE", 200)
    monkeypatch.setattr("assay.formats.text_lines.HEAD", 200)
    data = written(name, run_rows({f"q{at}": {f"d{rank}": float(-rank) for rank in range(1, 6)} for at in range(9)}))
    file = open_run(data, "a", "x", name)
    blocks = list(file.blocks())
    report = file.report
    assert len(blocks) > 1
    assert {
        query_id: scores for block in blocks for query_id, scores in block.to_dict().items()
    } == file.whole().to_dict()
    assert (report, report.accepted) == (file.report, 45)
    head, _, last = data.removesuffix(b"\n").rpartition(b"\n")
    again = open_run(head + b"\n" + last.replace(b"q8", b"q0").replace(b"d5", b"d9"), "a", "x", name)
    with pytest.raises(Interleaved):
        list(again.blocks())
    assert len(again.whole().ranking("q0")) == 6


@pytest.mark.parametrize(
    ("data", "kind", "name"),
    [
        (b'{"q1": {"d1": 3}}', "run", "run-json"),
        (b'{"q1": {"d1": 3}}', None, "qrels-json"),
        (b'{"q1": {"d1": 0.5}}', None, "run-json"),
        (b'{\n "q1": {},\n "q2": {\n "d\\"1": -0.5', None, "run-json"),
        (b'[ {"qid": "q1", "docid": "d1", "score": 2}]', None, "run-json"),
        (b'[{"qid": "q1", "docid": "d1", "label": 2}]', None, "qrels-json"),
        (b'{"qid": "q1", "docid": "d1", "label": 2}', None, "qrels-jsonl"),
        (b"qid\tpid\trank\nq1\td1\t1\n", "run", "run-csv"),
        (b"query_id,doc_id,rank,runs,why\nq1,d1,1,x,y\n", None, "pairs-csv"),
        (b"query_id,doc_id,grade,rater\n", "qrels", None),
        (b'{"query_id": "q", "doc_id": "d", "outcome": "graded", "grade": 1}\n', "qrels", None),
        (b"query-id\tcorpus-id\tscore\n", None, "beir-qrels"),
        (b"query-id\tcorpus-id\tscore\n", "run", "run-csv"),
        (b"q1\td1\t1\nq1\td2\t2\n", None, "msmarco-run"),
        (b"q1\td1\t3\nq1\td2\t0\n", "run", None),
        (b'{"index": {"_index": "ubi_queries"}}', None, "query-log-ubi"),
        (b"PAR1\0", "qrels", "qrels-parquet"),
        (b"PAR1 Q0 d1 1 2.5 x\n", None, "trec-run"),
    ],
)
def test_formats_are_recognized_by_content(data: bytes, kind: str | None, name: str | None):
    assert sniff(data, kind) == name


def test_unrecognized_file_names_the_format_option():
    message = "a: looks like qrels-jsonl, not like run; name its format with --run-format, one of trec-run, run-json"
    with pytest.raises(UnreadableInput, match=message):
        load_run(b'{"query_id": "q", "doc_id": "d", "grade": 2}\n', "a")
    with pytest.raises(NotValid, match="qrels-json is not a format of run; known: trec-run"):
        load_run(b"", "a", format="qrels-json")
    with pytest.raises(UnknownName, match="format 'run-jsn'; did you mean run-json"):
        load_run(b"", "a", format="run-jsn")
    with pytest.raises(UnreadableInput, match=r"in ranx: run\.save"):
        load_run(b"\x04\x22\x4d\x18\x40\x40\xc0\x00", "run.lz4")
    # One without a NUL in it, which could pass for a text.
    with pytest.raises(UnreadableInput, match="decompress it"):
        load_run(b"\x04\x22\x4d\x18aaaa", "run.lz4")
    with pytest.raises(UnreadableInput, match="is a Parquet file"):
        load_run(parquet(**PAIR, score=[1, 2]), "a", format="trec-run")


def test_streams_are_read_like_files():
    assert load_run(io.BytesIO(b'{"q1": {"d1": 1}}'), "a")[0].to_dict() == {"q1": {"d1": 1}}
    assert load_qrels(io.BytesIO(b"q1 0 d1 3\n"), "a")[0].to_dict() == {"q1": {"d1": 3}}


def test_only_parquet_pays_for_polars():
    code = """
import sys
from assay.formats.qrels_and_runs import load_qrels, load_run
load_run(b'q1 Q0 d1 1 2 x')
load_qrels(b'{"q1": {"d1": 1}}')
load_run(b'query_id,doc_id,score' + bytes([10]) + b'q,d,1')
sys.exit('polars' in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
