"""Tests of odd entries in label and run files: each issue and each repair is reported with its place."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS
from assay.formats.qrels_and_runs import load_qrels, load_run
from assay.formats.row_types import RunRow
from tests.assay.formats.table_bytes import PAIR, label_rows, parquet, written

pytestmark = pytest.mark.usefixtures("decoded_here")

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
        (DOUBLE, 1, "E16", "'q1 / d1: 1' contradicts line 3, 'q1 / d1: 3'"),
        ('{"q1": {"d1": 1},\n"q1": {"d2": 3}}', 2, "E20", "the query 'q1' appears twice, first on line 1"),
        ('{"q1": {"d1": 1},\n"q2": 3}', 2, "E23", "the query 'q2' is not followed by an object"),
        ('{"q1": {"": 1}}', 1, "E11", "the document id is empty"),
        ('{"q1": {"d\\u0007": 1}}', 1, "E19", "control character U+0007"),
        ('{"q1": {"\\ud800": 1}}', 1, "E19", "U+D800"),
        ('{"q1": {"d1": 1}\n', 2, "F05", ", or } is missing"),
        ('{"q1": {"d1": 1}}\n x', 2, "F05", "unexpected text after the object"),
        ('{"q1": {"d1" 1}}', 1, "F05", ": is missing"),
        ('{"q1": {"d1": 1,}}', 1, "F05", "a key in quotation marks is missing"),
        ('{"a":' * 3000, 1, "F05", "nested too deeply"),
        ("{}", None, "F07", "contains no results"),
        ("[]", None, "F07", "contains no results"),
        ("[1]", 1, "E23", "[0]: not an object"),
        ('[{"query_id": "q", ' + TAIL + ",\n" + '{"query_id": 1.5, ' + TAIL + "]", 2, "E23", "[1]: an id is"),
        ('[{"query_id": "q", "score": 2, ' + TAIL + "]", 1, "E20", "[0]: the key 'score' appears twice"),
        ('[{"query_id": "q", ' + TAIL, 1, "F05", ", or ] is missing"),
        ('[{"query_id": "q", ' + TAIL + "] 1", 1, "F05", "there is text after the list"),
        ('{"query_id": "q", ' + TAIL + '\n{"query_id": "q", "doc_id": "d2"}', 2, "E23", "the key score is missing"),
        ('{"query_id": "q", ' + TAIL + '\n{"query_id": "q", ' + TAIL, 1, "E16", "contradicts line 2"),
        ('{"query_id": "q", ' + TAIL + "\nx", 2, "E24", "not JSON"),
        (
            '{"query_id": "q", ' + TAIL + '\n{"query_id": "q", "doc_id": "d2", "rank": 2}',
            2,
            "E23",
            "no score, although",
        ),
        (
            '[{"query_id": "q", "doc_id": "d2", "rank": 2}, {"query_id": "q", ' + TAIL + "]",
            1,
            "E23",
            "a score, although earlier rows have only ranks",
        ),
        ("query_id,doc_id,score\nq1,d1,1\nq1,d2,two\n", 3, "E12", "the score 'two' is not a number"),
        ("query_id,doc_id,score\nq1,d1,nan\n", 2, "E12", "the score 'nan' is not a number"),
        ("query_id,doc_id,score\nq1,d1,\n", 2, "E12", "the score is empty"),
        ("query_id,doc_id,score\nq1,,1\n", 2, "E11", "the document id is empty"),
        ("query_id,doc_id,score\nq1,d1\n", 2, "E10", "2 cells, but the header has 3"),
        ('query_id,doc_id,score\n"q\n1",d1,1\nq1,d2,1\nq1,d2,1\n', 2, "E19", "control character U+000A"),
        ("query_id,doc_id,score\nq1,d1,1\nq1,d2,2\nq1,d1,3\n", 2, "E16", "contradicts line 4, 'q1,d1,3'"),
        ("query_id,doc_id,score\nq1,d1,1\nq1,,d2,5\n", 3, "E10", "4 cells, but the header has 3"),
        ("query_id,doc_id,score\nq1,d1,1\nq1,d2,5,\n", 3, "E10", "4 cells, but the header has 3"),
        ("query_id,doc_id,score\nq1,d1,1\nq1,d2,5,", 3, "E10", "4 cells, but the header has 3"),
        ("query_id;doc_id;score\r\nq1;d1;1;\r\n", 2, "E10", "4 cells, but the header has 3"),
        ("query_id\tdoc_id\tscore\nq1\td1\t1\nq1\td2\t\t5\n", 3, "E10", "4 cells, but the header has 3"),
        ("query_id,doc_id,rank\nq1,d1,1\nq1,d2,x\n", 3, "E12", "the rank 'x' is not a whole number"),
        ("query_id,doc_id,score,score\nq1,d1,1,1\n", 1, "E22", "two columns named 'score'"),
        ("query_id,doc_id,score\n", None, "F07", "contains no results"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td1\t3\n", 1, "E16", "contradicts line 3"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td3\t3\nq1\td4\t4\nq1\td5\t-5\n", 5, "E12", "the rank '-5' is not a whole number"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td3\t3\nq1\td4\t4\nq1\td5\n", 5, "E10", "2 columns instead of 3"),
    ],
)
def test_invalid_run_entry_is_reported_with_its_position(data: str, line: int | None, code: str, message: str):
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
        ('{"q1": {"d1": 1, "d1": 2}}', 1, "E16", "contradicts line 1, 'q1 / d1: 2'"),
        ("query_id,doc_id,grade\nq1,d1,high\n", 2, "E12", "the grade 'high' is not a number"),
        ("query_id,doc_id,grade\nq1,d1,1\nq1,d1,2\n", 2, "E16", "contradicts line 3"),
        ('{"q1": {}}', None, "F07", "contains no judgments"),
    ],
)
def test_invalid_grade_is_reported_with_its_position(data: str, line: int | None, code: str, message: str):
    with pytest.raises(UnreadableInput) as caught:
        load_qrels(data.encode(), "a.file")
    assert (caught.value.line, caught.value.code) == (line, code)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "line", "code", "message"),
    [
        (PAIR | {"score": [1.0, None]}, 2, "E12", "the score is null"),
        (PAIR | {"score": [float("nan"), 1.0]}, 1, "E12", "'nan' is not a number"),
        (PAIR | {"score": ["1", "2"]}, None, "F04", "the column score contains String"),
        (PAIR | {"score": [True, False]}, None, "F04", "the column score contains Boolean"),
        (PAIR | {"doc_id": ["d1", None], "score": [1, 2]}, 2, "E11", "the document id is null"),
        (PAIR | {"doc_id": ["d1", "d1"], "score": [1, 2]}, 1, "E16", "contradicts line 2"),
        (PAIR | {"doc_id": ["d1", "d\n"], "score": [1, 2]}, 2, "E19", "control character"),
        (PAIR | {"q_id": [1.5, 2.0], "score": [1, 2]}, None, "F04", "the column q_id contains Float64"),
        (PAIR | {"points": [1, 2]}, None, "F04", "has no column score; it has q_id, doc_id, points"),
    ],
)
def test_invalid_parquet_row_is_reported_with_its_number(
    columns: dict[str, Any], line: int | None, code: str, message: str
):
    with pytest.raises(UnreadableInput) as caught:
        load_run(parquet(**columns), "a.parquet")
    assert (caught.value.line, caught.value.code) == (line, code)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("data", "expected", "codes"),
    [
        ('\ufeff{"q1": {"d1": 1}}\r\n', {"q1": {"d1": 1}}, {"W30": 1, "W31": 1}),
        ('{"q1": {"d1": Infinity, "d2": 1}}\n', {"q1": {"d1": float("inf"), "d2": 1}}, {"W44": 1}),
        ('{"q1": {"cafe\u0301": 1}}\n', {"q1": {"cafe\u0301": 1}}, {"W39": 1}),
        ('[{"query_id": 7, "doc_id": 8, "score": 1}]\n', {"7": {"8": 1}}, {"W42": 1}),
        ('{"qid": "q1", "docno": "d1", "score": 2, "x": 1}\n', {"q1": {"d1": 2}}, {"W41": 1, "W47": 2}),
        ('{"qid": "q1", "docid": "7", "docno": "d1", "score": 2}\n', {"q1": {"d1": 2}}, {"W47": 2, "W55": 1}),
        ("qid,docid,docno,rank,score,query\nq1,7,d1,0,2.5,x\n", {"q1": {"d1": 2.5}}, {"W47": 2, "W55": 1}),
        ('{"query_id": "q1", "doc_id": "d1", "rank": 3}\n', {"q1": {"d1": -3}}, {"W49": 1}),
        ("QID;DocNo;Score\nq1;d1;2.5\n", {"q1": {"d1": 2.5}}, {"W46": 1, "W47": 2}),
        ("query_id,doc_id,score,why\nq1,d1,2.5,x\n", {"q1": {"d1": 2.5}}, {"W41": 1}),
        ("query_id,doc_id,rank,score\nq1,d1,0,2.5\nq1,d2,1,1\n", {"q1": {"d1": 2.5, "d2": 1}}, {}),
        ("query_id,doc_id,rank,score\nq1,d1,2,2.5\nq1,d2,1,1\n", {"q1": {"d1": 2.5, "d2": 1}}, {"W40": 1}),
        ("query_id,doc_id,rank\nq1,d1,1\nq1,d2,2\n", {"q1": {"d1": -1, "d2": -2}}, {"W49": 2}),
        ("q1\td1\t1\r\nq1\td2\t2\r\n", {"q1": {"d1": -1, "d2": -2}}, {"W31": 1, "W49": 2}),
        ("q1\td1\t1\n\nq1\td2\t2", {"q1": {"d1": -1, "d2": -2}}, {"W35": 1, "W36": 1, "W49": 2}),
        ("query_id,doc_id,score\n'=q,d1,1\n", {"=q": {"d1": 1}}, {"W37": 1}),
    ],
)
def test_repairs_are_reported(data: str, expected: dict[str, dict[str, float]], codes: dict[str, int]):
    run, report = load_run(data.encode(), "a")
    assert (run.to_dict(), report.codes) == (expected, codes)


def test_of_pyterrier_frames_the_documents_own_id_is_read():
    run, report = load_run(parquet(qid=["q1"], docid=[7], docno=["d1"], score=[2.0]), "a")
    assert (run.to_dict(), report.codes) == ({"q1": {"d1": 2}}, {"W47": 2, "W55": 1})
    (warning,) = (problem for problem in report.warnings if problem.code == "W55")
    assert "'docno'" in warning.what
    assert "'docid'" in warning.what
    assert warning.done.startswith("'docno' is read")


def test_numbers_as_ids_of_parquet_are_read_as_text():
    run, report = load_run(parquet(q_id=[1, 2], doc_id=["d1", "d2"], rank=[1, 1]), "a")
    assert (run.to_dict(), report.codes) == ({"1": {"d1": -1}, "2": {"d2": -1}}, {"W42": 2, "W49": 2})


def test_identical_grade_is_a_duplicate():
    qrels, report = load_qrels(b'{"q1": {"d1": 1, "d1": 1, "d2": 0.5, "d3": -1}}', "a")
    assert (qrels.to_dict(), qrels.duplicates) == ({"q1": {"d1": 1, "d2": 0.5, "d3": -1}}, 1)
    assert report.codes["W33"] == 1


def test_columns_of_other_names_are_named():
    member = FORMATS["run-parquet"]
    data = parquet(topic_number=["q1"], sku=["d1"], points=[2])
    named = {"query_id": "topic_number", "doc_id": "sku", "score": "points"}
    assert member.read(data, path="a", columns=named).rows == [RunRow("q1", "d1", 2.0)]
    with pytest.raises(UnreadableInput, match="has no column 'nix', to which doc_id is mapped"):
        member.read(data, path="a", columns={"doc_id": "nix"})
    with pytest.raises(NotValid, match="unknown column 'nix'"):
        member.read(data, path="a", columns={"nix": "sku"})


def test_a_scale_holds_in_every_format():
    for name in ("qrels-json", "qrels-jsonl", "qrels-csv", "qrels-parquet"):
        data = written(name, label_rows({"q1": {"d1": 3, "d2": 9}}))
        report = FORMATS[name].read(data, path="a", grades=(0, 1, 2, 3)).report
        assert {problem.code for problem in report.errors} == {"E14"}
    assert FORMATS["qrels-json"].read(b'{"q1": {"d1": 3.0}}\n', path="a", grades=(3,)).report.codes == {"W32": 1}
