"""Do labels and runs come out of every format alike, and is every odd entry told where it stands?"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import polars
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judgments.core.errors import NotValid, UnknownName, UnreadableInput
from judgments.core.run import Run
from judgments.formats import FORMATS, sniff
from judgments.formats.rows import LabelRow, RunRow
from judgments.formats.run_files import Interleaved
from judgments.formats.tables import load_qrels, load_run, open_run, read_rows

SCORES = {"q1": {"d1": 12.5, "my doc": 11.25, "d3": -0.1}, "q2": {"gr\u00fcn": 1e-5, "d1": 7.0}}
GRADES = {"q1": {"d1": 3, "my doc": 0}, "q2": {"gr\u00fcn": 1}}
# Neither TREC files nor MS MARCO's carry blanks in ids.
RUNS = [name for name in FORMATS if FORMATS[name].kind == "run" and name not in ("trec-run", "msmarco-run")]
QRELS = [name for name in FORMATS if FORMATS[name].kind == "qrels" and name not in ("trec-qrels", "judgment-list")]


def parquet(**columns: Any) -> bytes:
    stream = io.BytesIO()
    polars.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def written(name: str, rows: list[Any]) -> bytes:
    stream = io.BytesIO()
    member = FORMATS[name]
    assert member.write is not None
    member.write(rows, stream)
    return stream.getvalue()


def run_rows(scores: dict[str, dict[str, float]]) -> list[RunRow]:
    return [RunRow(query_id, doc_id, score) for query_id, of in scores.items() for doc_id, score in of.items()]


def label_rows(grades: dict[str, dict[str, int]]) -> list[LabelRow]:
    return [LabelRow(query_id, doc_id, grade) for query_id, of in grades.items() for doc_id, grade in of.items()]


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
        ("run-json", [RunRow("q1", "d1", float("inf"))], "cannot carry the score inf"),
        ("run-jsonl", [RunRow("q1", "d1", float("-inf"))], "cannot carry the score -inf"),
        ("qrels-json", [LabelRow("q1", "d1", 2.5)], "2.5 is not a whole number"),
        ("msmarco-run", [RunRow("q1", "my doc", 1.0)], "'my doc'"),
        ("run-parquet", [RunRow("q1", "\ud800", 1.0)], "cannot carry these ids"),
    ],
)
def test_what_a_format_cannot_carry_is_refused(name: str, rows: list[Any], message: str):
    with pytest.raises(NotValid, match=message):
        written(name, rows)


def test_tags_that_are_left_out_are_told():
    member = FORMATS["run-json"]
    assert member.write is not None
    done = member.write([RunRow("q1", "d1", 1.0, tag="bm25")], io.BytesIO())
    assert done.notes == ("run-json has no place for tags; left out: bm25",)


DOUBLE = '{"q1": {"d1": 1,\n"d2": 2,\n"d1": 3}}'
TAIL = '"doc_id": "d1", "score": 1}'


@pytest.mark.parametrize(
    ("data", "line", "code", "message"),
    [
        ('{"q1": {"d1": 1,\n"d3": "two"}}', 2, "E12", "q1 / d3: the score is the text 'two', not a number"),
        ('{"q1": {"d1": 1,\n"d3": NaN}}', 2, "E12", "q1 / d3: the score 'nan' is not a number"),
        ('{"q1": {"d1": 1,\n\n"d3": null}}', 3, "E12", "q1 / d3: the score is null"),
        ('{"q1": {"d1": true}}', 1, "E12", "the score is True, not a number"),
        ('{"q1": {"d1": [1]}}', 1, "E12", "the score is [1], not a number"),
        ('{"q1": {"d1": ' + "9" * 400 + "}}", 1, "E12", "too large"),
        ('{"q1": {"d1": ' + "9" * 5000 + "}}", 1, "F05", "thousands of digits"),
        (DOUBLE, 1, "E16", "'q1 / d1: 1' is contradicted by line 3, 'q1 / d1: 3'"),
        ('{"q1": {"d1": 1},\n"q1": {"d2": 3}}', 2, "E20", "the query 'q1' stands twice, first on line 1"),
        ('{"q1": {"d1": 1},\n"q2": 3}', 2, "E23", "the query 'q2' has no object behind it"),
        ('{"q1": {"": 1}}', 1, "E11", "the document id is empty"),
        ('{"q1": {"d\\u0007": 1}}', 1, "E19", "control character U+0007"),
        ('{"q1": {"\\ud800": 1}}', 1, "E19", "U+D800"),
        ('{"q1": {"d1": 1}\n', 2, "F05", ", or } is missing"),
        ('{"q1": {"d1": 1}}\n x', 2, "F05", "something stands after the object"),
        ('{"q1": {"d1" 1}}', 1, "F05", ": is missing"),
        ('{"q1": {"d1": 1,}}', 1, "F05", "a key in quotation marks is missing"),
        ('{"a":' * 3000, 1, "F05", "nested too deeply"),
        ("{}", None, "F07", "holds no results"),
        ("[]", None, "F07", "holds no results"),
        ("[1]", 1, "E23", "[0]: not an object"),
        ('[{"query_id": "q", ' + TAIL + ",\n" + '{"query_id": 1.5, ' + TAIL + "]", 2, "E23", "[1]: an id is float"),
        ('[{"query_id": "q", "score": 2, ' + TAIL + "]", 1, "E20", "[0]: the key 'score' stands twice"),
        ('[{"query_id": "q", ' + TAIL, 1, "F05", ", or ] is missing"),
        ('[{"query_id": "q", ' + TAIL + "] 1", 1, "F05", "something stands after the list"),
        ('{"query_id": "q", ' + TAIL + '\n{"query_id": "q", "doc_id": "d2"}', 2, "E23", "the key score is missing"),
        ('{"query_id": "q", ' + TAIL + '\n{"query_id": "q", ' + TAIL, 1, "E16", "contradicted by line 2"),
        ('{"query_id": "q", ' + TAIL + "\nx", 2, "E24", "not JSON"),
        ('{"query_id": "q", ' + TAIL + '\n{"query_id": "q", "doc_id": "d2", "rank": 2}', 2, "E23", "there is no score"),
        (
            '[{"query_id": "q", "doc_id": "d2", "rank": 2}, {"query_id": "q", ' + TAIL + "]",
            1,
            "E23",
            "there is a score",
        ),
        ("query_id,doc_id,score\nq1,d1,1\nq1,d2,two\n", 3, "E12", "the score 'two' is not a number"),
        ("query_id,doc_id,score\nq1,d1,nan\n", 2, "E12", "the score 'nan' is not a number"),
        ("query_id,doc_id,score\nq1,d1,\n", 2, "E12", "the score is empty"),
        ("query_id,doc_id,score\nq1,,1\n", 2, "E11", "the document id is empty"),
        ("query_id,doc_id,score\nq1,d1\n", 2, "E10", "2 cells where the header has 3"),
        ('query_id,doc_id,score\n"q\n1",d1,1\nq1,d2,1\nq1,d2,1\n', 2, "E19", "control character U+000A"),
        ("query_id,doc_id,score\nq1,d1,1\nq1,d2,2\nq1,d1,3\n", 2, "E16", "contradicted by line 4, 'q1,d1,3'"),
        ("query_id,doc_id,score\nq1,d1,1\nq1,,d2,5\n", 3, "E10", "4 cells where the header has 3"),
        ("query_id,doc_id,score\nq1,d1,1\nq1,d2,5,\n", 3, "E10", "4 cells where the header has 3"),
        ("query_id,doc_id,score\nq1,d1,1\nq1,d2,5,", 3, "E10", "4 cells where the header has 3"),
        ("query_id;doc_id;score\r\nq1;d1;1;\r\n", 2, "E10", "4 cells where the header has 3"),
        ("query_id\tdoc_id\tscore\nq1\td1\t1\nq1\td2\t\t5\n", 3, "E10", "4 cells where the header has 3"),
        ("query_id,doc_id,rank\nq1,d1,1\nq1,d2,x\n", 3, "E12", "the rank 'x' is not a whole number"),
        ("query_id,doc_id,score,score\nq1,d1,1,1\n", 1, "E22", "two columns 'score'"),
        ("query_id,doc_id,score\n", None, "F07", "holds no results"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td1\t3\n", 1, "E16", "contradicted by line 3"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td3\t3\nq1\td4\t4\nq1\td5\t-5\n", 5, "E12", "the rank '-5' is not a whole number"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td3\t3\nq1\td4\t4\nq1\td5\n", 5, "E10", "2 columns instead of 3"),
    ],
)
def test_an_odd_entry_of_a_run_is_told_where_it_stands(data: str, line: int | None, code: str, message: str):
    with pytest.raises(UnreadableInput) as caught:
        load_run(data.encode(), "a.file")
    assert (caught.value.line, caught.value.code) == (line, code)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("data", "line", "code", "message"),
    [
        ('{"q1": {"d1": "high"}}', 1, "E12", "q1 / d1: the grade is the text 'high', not a number"),
        ('{"q1": {"d1": Infinity}}', 1, "E12", "the grade 'inf' is not a number"),
        ('{"q1": {"d1": 1, "d1": 2}}', 1, "E16", "contradicted by line 1, 'q1 / d1: 2'"),
        ("query_id,doc_id,grade\nq1,d1,high\n", 2, "E12", "the grade 'high' is not a number"),
        ("query_id,doc_id,grade\nq1,d1,1\nq1,d1,2\n", 2, "E16", "contradicted by line 3"),
        ('{"q1": {}}', None, "F07", "holds no judgments"),
    ],
)
def test_an_odd_grade_is_told_where_it_stands(data: str, line: int | None, code: str, message: str):
    with pytest.raises(UnreadableInput) as caught:
        load_qrels(data.encode(), "a.file")
    assert (caught.value.line, caught.value.code) == (line, code)
    assert message in str(caught.value)


PAIR = {"q_id": ["q1", "q1"], "doc_id": ["d1", "d2"]}


@pytest.mark.parametrize(
    ("columns", "line", "code", "message"),
    [
        (PAIR | {"score": [1.0, None]}, 2, "E12", "the score is null"),
        (PAIR | {"score": [float("nan"), 1.0]}, 1, "E12", "'nan' is not a number"),
        (PAIR | {"score": ["1", "2"]}, None, "F04", "the column score holds String"),
        (PAIR | {"score": [True, False]}, None, "F04", "the column score holds Boolean"),
        (PAIR | {"doc_id": ["d1", None], "score": [1, 2]}, 2, "E11", "the document id is null"),
        (PAIR | {"doc_id": ["d1", "d1"], "score": [1, 2]}, 1, "E16", "contradicted by line 2"),
        (PAIR | {"doc_id": ["d1", "d\n"], "score": [1, 2]}, 2, "E19", "control character"),
        (PAIR | {"q_id": [1.5, 2.0], "score": [1, 2]}, None, "F04", "the column q_id holds Float64"),
        (PAIR | {"points": [1, 2]}, None, "F04", "has no column score; it has q_id, doc_id, points"),
    ],
)
def test_an_odd_row_of_parquet_is_told_with_its_number(
    columns: dict[str, Any], line: int | None, code: str, message: str
):
    with pytest.raises(UnreadableInput) as caught:
        load_run(parquet(**columns), "a.parquet")
    assert (caught.value.line, caught.value.code) == (line, code)
    assert message in str(caught.value)


@pytest.mark.parametrize("cut", [slice(0, 60), slice(0, -4), slice(0, -30)])
def test_a_damaged_parquet_file_is_refused(cut: slice):
    with pytest.raises(UnreadableInput, match="is a damaged Parquet file"):
        load_run(parquet(**PAIR, score=[1.0, 2.0])[cut], "a.parquet")


@pytest.mark.parametrize(
    ("data", "expected", "codes"),
    [
        ('\ufeff{"q1": {"d1": 1}}\r\n', {"q1": {"d1": 1}}, {"W30": 1, "W31": 1}),
        ('{"q1": {"d1": Infinity, "d2": 1}}\n', {"q1": {"d1": float("inf"), "d2": 1}}, {"W44": 1}),
        ('{"q1": {"cafe\u0301": 1}}\n', {"q1": {"cafe\u0301": 1}}, {"W39": 1}),
        ('[{"query_id": 7, "doc_id": 8, "score": 1}]\n', {"7": {"8": 1}}, {"W42": 1}),
        ('{"qid": "q1", "docno": "d1", "score": 2, "x": 1}\n', {"q1": {"d1": 2}}, {"W41": 1, "W47": 2}),
        ('{"query_id": "q1", "doc_id": "d1", "rank": 3}\n', {"q1": {"d1": -3}}, {"W49": 1}),
        ("QID;DocNo;Score\nq1;d1;2.5\n", {"q1": {"d1": 2.5}}, {"W46": 1, "W47": 2}),
        ("query_id,doc_id,score,why\nq1,d1,2.5,x\n", {"q1": {"d1": 2.5}}, {"W41": 1}),
        ("query_id,doc_id,rank,score\nq1,d1,2,2.5\nq1,d2,1,1\n", {"q1": {"d1": 2.5, "d2": 1}}, {"W40": 1}),
        ("query_id,doc_id,rank\nq1,d1,1\nq1,d2,2\n", {"q1": {"d1": -1, "d2": -2}}, {"W49": 2}),
        ("q1\td1\t1\r\nq1\td2\t2\r\n", {"q1": {"d1": -1, "d2": -2}}, {"W31": 1, "W49": 2}),
        ("q1\td1\t1\n\nq1\td2\t2", {"q1": {"d1": -1, "d2": -2}}, {"W35": 1, "W36": 1, "W49": 2}),
        ("query_id,doc_id,score\n'=q,d1,1\n", {"=q": {"d1": 1}}, {"W37": 1}),
    ],
)
def test_what_is_repaired_is_told(data: str, expected: dict[str, dict[str, float]], codes: dict[str, int]):
    run, report = load_run(data.encode(), "a")
    assert (run.to_dict(), report.codes) == (expected, codes)


def test_numbers_as_ids_of_parquet_are_read_as_text():
    run, report = load_run(parquet(q_id=[1, 2], doc_id=["d1", "d2"], rank=[1, 1]), "a")
    assert (run.to_dict(), report.codes) == ({"1": {"d1": -1}, "2": {"d2": -1}}, {"W42": 2, "W49": 2})


def test_the_same_grade_twice_is_kept_once():
    qrels, report = load_qrels(b'{"q1": {"d1": 1, "d1": 1, "d2": 0.5, "d3": -1}}', "a")
    assert (qrels.to_dict(), qrels.duplicates) == ({"q1": {"d1": 1, "d2": 0.5, "d3": -1}}, 1)
    assert report.codes["W33"] == 1


def test_columns_of_other_names_are_named():
    member = FORMATS["run-parquet"]
    data = parquet(topic_number=["q1"], sku=["d1"], points=[2])
    named = {"query_id": "topic_number", "doc_id": "sku", "score": "points"}
    assert member.read(data, path="a", columns=named).rows == [RunRow("q1", "d1", 2.0)]
    with pytest.raises(UnreadableInput, match="has no column 'nix', named for doc_id"):
        member.read(data, path="a", columns={"doc_id": "nix"})
    with pytest.raises(NotValid, match="there is no column 'nix' to name"):
        member.read(data, path="a", columns={"nix": "sku"})


def test_a_scale_holds_in_every_format():
    for name in ("qrels-json", "qrels-jsonl", "qrels-csv", "qrels-parquet"):
        data = written(name, label_rows({"q1": {"d1": 3, "d2": 9}}))
        report = FORMATS[name].read(data, path="a", grades=(0, 1, 2, 3)).report
        assert {problem.code for problem in report.errors} == {"E14"}
    assert FORMATS["qrels-json"].read(b'{"q1": {"d1": 3.0}}\n', path="a", grades=(3,)).report.codes == {"W32": 1}


IDS = st.sampled_from(
    ["q1", "q2", "a b", "gr\u00fcn", "cafe\u0301", "", "d\x07", "'=x", '"', "x" * 501, "#1", " d", "\\u0041"]
)
VALUES = st.sampled_from([1, 0, -2, 2.5, 1e-5, 1e22, 10**400, True, None, "1", "x", float("inf"), float("nan")])
RANKS = st.sampled_from([1, 2, 3, 0, -1, 1.5, "1", None])
SOUND = st.tuples(st.sampled_from(["q1", "q2", "gr\u00fcn"]), st.integers(0, 99).map(str), st.floats(-9, 9), st.just(1))


@st.composite
def entries(draw: st.DrawFn) -> list[tuple[Any, Any, Any, Any]]:
    if draw(st.booleans()):
        return draw(st.lists(SOUND, min_size=1, max_size=8))
    return draw(st.lists(st.tuples(IDS, IDS, VALUES, RANKS) | SOUND, min_size=1, max_size=5))


def as_jsonl(rows: list[tuple[Any, Any, Any, Any]]) -> bytes:
    keys = ("query_id", "doc_id", "score", "rank")
    return "".join(json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False) + "\n" for row in rows).encode()


def as_csv(rows: list[tuple[Any, Any, Any, Any]]) -> bytes:
    return ("query_id,doc_id,score,rank\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)).encode()


def as_ranks(rows: list[tuple[Any, Any, Any, Any]]) -> bytes:
    return "".join(f"{row[0]}\t{row[1]}\t{row[3]}\n" for row in rows).encode()


def as_json(rows: list[tuple[Any, Any, Any, Any]]) -> bytes:
    return (
        "{" + ", ".join(f"{json.dumps(q)}: {{{json.dumps(d)}: {json.dumps(v)}}}" for q, d, v, _ in rows) + "}"
    ).encode()


def told(read: Callable[[], tuple[Any, Any]]) -> Any:
    try:
        table, report = read()
    except UnreadableInput as error:
        return str(error)
    return table, report.bins, report.codes, report.units


def with_care(name: str, data: bytes) -> tuple[Run, Any]:
    found = read_rows(data, "a", "run", name)
    if not found.rows:
        raise UnreadableInput("a", None, "holds no results", "expected a document for one query", "F07")
    return Run.from_rows(((row.query_id, row.doc_id, row.score) for row in found.rows), "run"), found.report


LAYOUTS = {"run-jsonl": as_jsonl, "run-csv": as_csv, "msmarco-run": as_ranks, "run-json": as_json}


@pytest.mark.parametrize("name", LAYOUTS)
@settings(max_examples=50)
@given(rows=entries())
@example(rows=[("q1", "d1", 1, 1), ("q1", "d1", 2, 2)])
def test_the_quick_way_says_what_the_careful_way_says(name: str, rows: list[tuple[Any, Any, Any, Any]]):
    data = LAYOUTS[name](rows)
    assert told(lambda: load_run(data, "a", format=name)) == told(lambda: with_care(name, data))


@settings(max_examples=5)
@given(rows=entries().filter(lambda rows: len({type(row[2]) for row in rows}) == 1))
def test_the_quick_way_through_parquet_too(rows: list[tuple[Any, Any, Any, Any]]):
    columns = dict(zip(("q_id", "doc_id", "score"), zip(*(row[:3] for row in rows), strict=True), strict=True))
    try:
        data = parquet(**columns)
    except (OverflowError, polars.exceptions.PolarsError):
        return
    quick, careful = (
        told(lambda: load_run(data, "a", format="run-parquet")),
        told(lambda: with_care("run-parquet", data)),
    )
    assert quick == careful


@pytest.mark.parametrize(
    "data",
    [
        b'{"query_id":"q","doc_id":"x}\n{y","score":1}\n{"query_id":"q","doc_id":"a","score":1}',
        b'{"query_id":"q","doc_id":"a","score":1},{"query_id":"q","doc_id":"b","score":1}\n',
        b'{"query_id":"q","doc_id":"a","score":1,"score":2}\n',
        b'{"query_id":"q","doc_id":"a","score":1,\n"rank":2}\n',
        b'{"query_id":"q","doc_id":"a","sc\\u006fre":1,"score":2}\n',
    ],
)
def test_lines_are_objects_of_their_own(data: bytes):
    with pytest.raises(UnreadableInput) as caught:
        load_run(data, "a", format="run-jsonl")
    assert caught.value.line == 1


@pytest.mark.parametrize("name", ["run-jsonl", "run-csv", "msmarco-run"])
def test_large_files_come_in_pieces(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("judgments.formats.object_rows.PIECE", 200)
    monkeypatch.setattr("judgments.formats.pair_tables.PIECE", 200)
    monkeypatch.setattr("judgments.formats.decoding.HEAD", 200)
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
def test_formats_are_told_by_content(data: bytes, kind: str | None, name: str | None):
    assert sniff(data, kind) == name


def test_what_cannot_be_told_names_the_option():
    message = "a: looks like qrels-jsonl, not like run; name its format with --run-format, one of trec-run, run-json"
    with pytest.raises(UnreadableInput, match=message):
        load_run(b'{"query_id": "q", "doc_id": "d", "grade": 2}\n', "a")
    with pytest.raises(NotValid, match="qrels-json is no format of run; known: trec-run"):
        load_run(b"", "a", format="qrels-json")
    with pytest.raises(UnknownName, match="there is no format 'run-jsn'; did you mean run-json"):
        load_run(b"", "a", format="run-jsn")
    with pytest.raises(UnreadableInput, match=r"in ranx: run\.save"):
        load_run(b"\x04\x22\x4d\x18\x40\x40\xc0\x00", "run.lz4")
    # One without a NUL in it, which could pass for a text.
    with pytest.raises(UnreadableInput, match="unpack it"):
        load_run(b"\x04\x22\x4d\x18aaaa", "run.lz4")
    with pytest.raises(UnreadableInput, match="is a Parquet file"):
        load_run(parquet(**PAIR, score=[1, 2]), "a", format="trec-run")


def test_streams_are_read_like_files():
    assert load_run(io.BytesIO(b'{"q1": {"d1": 1}}'), "a")[0].to_dict() == {"q1": {"d1": 1}}
    assert load_qrels(io.BytesIO(b"q1 0 d1 3\n"), "a")[0].to_dict() == {"q1": {"d1": 3}}


def test_only_parquet_pays_for_polars():
    code = """
import sys
from judgments.formats.tables import load_qrels, load_run
load_run(b'q1 Q0 d1 1 2 x')
load_qrels(b'{"q1": {"d1": 1}}')
load_run(b'query_id,doc_id,score' + bytes([10]) + b'q,d,1')
sys.exit('polars' in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
