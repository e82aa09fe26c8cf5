"""Tests of the CSV files of cases and snapshots, on the bytes of Quepid's own tests."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.core.read_report import Report
from assay.formats import FORMATS, sniff
from assay.formats.qrels_and_runs import load_qrels, load_run
from assay.formats.row_types import LabelRow, QueryRow, RunRow
from assay.formats.writer import Written


def read(name: str, data: bytes, **options: Any) -> tuple[list[Any], Report]:
    result = FORMATS[name].read(data, path="a.csv", **options)
    return list(result.rows), result.report


def written(format: str, rows: list[Any], **options: Any) -> tuple[str, Written]:
    stream, write = io.BytesIO(), FORMATS[format].write
    assert write is not None
    result = write(rows, stream, **options)
    return stream.getvalue().decode(), result


# o19s/quepid, app/javascript/utils/case_csv.test.js
CASE = (
    b"Team Name,Case Name,Case ID,Query Text,Score,Date Last Scored,Count,Information Need,Notes,Options\r\n"
    b"Test Team,Test Case,8,dog,30,2015-07-14 16:08:55,,,This dog looks like a great dog.,\r\n"
    b'Test Team,Test Case,8,cat,0,2015-07-14 16:08:55,,,Is this ""really"" a ""cat""?,\r\n'
    b"Test Team,Test Case,8,foo,,2015-07-14 16:08:55,,,chil'laxin,\r\n"
)
SNAPSHOT = (
    b"Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\r\n"
    b"(3/5/26) Weekly check,2026-03-05T12:00:00Z,8,dog,doc-1,1,Good dog\r\n"
    b'(3/5/26) Weekly check,2026-03-05T12:00:00Z,8,dog,doc-2,2,"Great, dog"\r\n'
)
DETAILED = (
    b"Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,cast\r\n"
    b"Test Team,Test Case,8,dog,doc-2,2,Great dog,3,\r\n"
    b"Test Team,Test Case,8,dog,doc-1,1,Good dog,,\r\n"
    b'Test Team,Test Case,8, =a ""cat"",doc-1,1,Good dog,0,\r\n'
)


def test_queries_of_a_case():
    rows, report = read("quepid-case-csv", CASE)
    assert sniff(CASE) == "quepid-case-csv"
    assert [(row.query_id, row.query, row.narrative) for row in rows] == [
        ("q001", "dog", ""),
        ("q002", "cat", ""),
        ("q003", "foo", ""),
    ]
    assert report.codes == {"W31": 1, "W41": 3}
    older = CASE.replace(b"Information Need,", b"").replace(b",,,", b",,")
    assert [row.query for row in read("quepid-case-csv", older)[0]] == ["dog", "cat", "foo"]


def test_a_snapshot_is_a_run():
    rows, report = read("quepid-snapshot-csv", SNAPSHOT)
    assert sniff(SNAPSHOT) == "quepid-snapshot-csv"
    assert [(row.query_id, row.query, row.doc_id, row.score, row.rank) for row in rows] == [
        ("q001", "dog", "doc-1", -1.0, 1),
        ("q001", "dog", "doc-2", -2.0, 2),
    ]
    assert rows[0].tag == "(3/5/26) Weekly check"
    assert report.ok


def test_a_repeated_position_is_reported():
    assert read("quepid-snapshot-csv", SNAPSHOT.replace(b"doc-2,2", b"doc-2,1"))[1].codes["W40"] == 1
    _, report = read("quepid-snapshot-csv", SNAPSHOT.replace(b"doc-2,2", b"doc-1,2"))
    assert [problem.code for problem in report.errors] == ["E16", "E16"]
    assert read("quepid-snapshot-csv", SNAPSHOT.replace(b"doc-2,2", b"doc-2,x"))[1].codes["E12"] == 1


def test_one_of_several_snapshots():
    two = SNAPSHOT + b"Before,2026-01-05T12:00:00Z,8,dog,doc-1,1,Good dog\r\n"
    with pytest.raises(UnreadableInput, match="2 snapshots") as refused:
        read("quepid-snapshot-csv", two)
    assert refused.value.code == "E23"
    rows, report = read("quepid-snapshot-csv", two, snapshot="Before")
    assert (len(rows), report.bins["comment"], report.codes["W51"]) == (1, 2, 2)
    with pytest.raises(UnreadableInput, match="Before"):
        read("quepid-snapshot-csv", two, snapshot="After")


def test_detailed_ratings():
    rows, report = read("quepid-detailed-csv", DETAILED)
    assert sniff(DETAILED) == "quepid-detailed-csv"
    assert [(row.query, row.doc_id, row.grade) for row in rows] == [
        ("dog", "doc-2", 3.0),
        ("dog", "doc-1", None),
        ('=a "cat"', "doc-1", 0.0),
    ]
    assert report.codes == {"W31": 1, "W37": 2, "W41": 1}


def test_ratings_and_snapshot_are_joined_by_text():
    # The numbers of the queries differ, because the files list them in different orders.
    first = b"query,docid,rating\ncat,doc-1,1\ndog,doc-1,3\n"
    labels, run = load_qrels(first)[0].to_dict(), load_run(SNAPSHOT)[0].to_dict()
    assert labels["dog"] == {"doc-1": 3.0}
    assert run == {"dog": {"doc-1": -1.0, "doc-2": -2.0}}


# Values that Quepid's own test of its case file has, without scores, dates and notes.
CASE_WRITTEN = (
    "Team Name,Case Name,Case ID,Query Text,Score,Date Last Scored,Count,Information Need,Notes,Options\n"
    "Test Team,Test Case,8,dog,,,,This dog looks like a great dog.,,\n"
    'Test Team,Test Case,8,cat,,,,"Is this ""really"" a ""cat""?",,\n'
    "Test Team,Test Case,8,foo,,,,chil'laxin,,\n"
)


def test_bytes_of_a_case():
    rows = [
        QueryRow("q1", "dog", "This dog looks like a great dog."),
        QueryRow("q3", "foo", "chil'laxin"),
        QueryRow("q2", "cat", 'Is this "really" a "cat"?', tier="head", weight=0.5),
    ]
    text, result = written("quepid-case-csv", rows, team="Test Team", name="Test Case", case_id=8)
    assert text == CASE_WRITTEN
    assert result.notes == ("quepid-case-csv cannot store all fields; left out: tier, weight",)
    again, report = read("quepid-case-csv", text.encode())
    assert {(row.query, row.narrative) for row in again} == {(row.query, row.narrative) for row in rows}
    assert report.codes == {}


def test_bytes_of_detailed_ratings():
    rows = [
        LabelRow("q1", "doc-2", 3.0, query="dog"),
        LabelRow("q1", "=doc,1", 0.0, query="dog", copied_from=("q2", "d", "same")),
        LabelRow("q1", "doc-3", None, query="dog"),
        LabelRow("q2", "doc-1", 2.5, query='=a "cat"'),
    ]
    text, result = written("quepid-detailed-csv", rows, name="Case", case_id=8)
    assert text == (
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\n"
        ',Case,8,dog,"=doc,1",,,0\n'
        ",Case,8,dog,doc-2,,,3\n"
        ',Case,8," =a ""cat""",doc-1,,,2.5\n'
    )
    assert result.notes == ("quepid-detailed-csv cannot store all fields; left out: copied_from",)
    assert "doc-3,,,\n" in written("quepid-detailed-csv", rows, omit_unrated=False)[0]
    again, _ = read("quepid-detailed-csv", text.encode())
    assert written("quepid-detailed-csv", again, name="Case", case_id=8)[0] == text


TIME = "2026-03-05T12:00:00Z"


def test_bytes_of_a_snapshot():
    scores, tag = {"doc-2": 1.5, "doc-1": 7.0}, "(3/5/26) Weekly check"
    rows = [RunRow("q1", doc_id, score, tag=tag, query="dog") for doc_id, score in scores.items()]
    text, result = written("quepid-snapshot-csv", rows, time=TIME, case_id=8)
    assert text == (
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
        "(3/5/26) Weekly check,2026-03-05T12:00:00Z,8,dog,doc-1,1\n"
        "(3/5/26) Weekly check,2026-03-05T12:00:00Z,8,dog,doc-2,2\n"
    )
    assert result.notes == ("quepid-snapshot-csv cannot store scores; only the positions are written",)
    again, _ = read("quepid-snapshot-csv", text.encode())
    assert written("quepid-snapshot-csv", again, time=TIME, case_id=8) == (text, Written(2))
    assert "\nAfter,,,dog,doc-1,1\n" in written("quepid-snapshot-csv", rows, tag="After")[0]


def test_the_positions_of_quepids_own_snapshot_come_back():
    text, _ = written("quepid-snapshot-csv", read("quepid-snapshot-csv", SNAPSHOT)[0], time=TIME, case_id=8)
    assert text.splitlines() == [",".join(line.split(",")[:6]) for line in SNAPSHOT.decode().splitlines()]


ODD = [
    'a "b", c',
    'two ""quotes""',
    '""',
    "a\tb",
    "a\nb",
    "a\r\nb",
    "caf\u00e9 \U0001f600",
    "=1+1",
    "'=1",
    " x",
    "\u202e",
]


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_come_back(text: str):
    for name, rows in {
        "quepid-case-csv": [QueryRow("q001", text, text)],
        "quepid-detailed-csv": [LabelRow("q001", "d1", 3.0, query=text)],
        "quepid-snapshot-csv": [RunRow("q001", "d1", -1.0, rank=1, tag="a", query=text)],
    }.items():
        again, report = read(name, written(name, rows)[0].encode())
        assert report.ok
        assert again == rows
        assert again[0].query == text


@pytest.mark.parametrize("text", [" =x", "\ud800", ""])
def test_texts_that_would_come_back_changed_are_refused(text: str):
    for name, row in {
        "quepid-case-csv": QueryRow("q1", text),
        "quepid-detailed-csv": LabelRow("q1", "d1", 3.0, query=text),
        "quepid-snapshot-csv": RunRow("q1", "d1", 1.0, tag="a", query=text),
    }.items():
        with pytest.raises(NotValid):
            written(name, [row])


def test_a_run_with_several_tags_is_not_one_snapshot():
    rows = [RunRow("q1", doc_id, 1.0, tag=doc_id, query="dog") for doc_id in ("a", "b")]
    with pytest.raises(NotValid, match="'a', 'b'"):
        written("quepid-snapshot-csv", rows)
    assert written("quepid-snapshot-csv", rows, tag="both")[1].rows == 2


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("quepid-case-csv", QueryRow("q1", "dog")),
        ("quepid-detailed-csv", LabelRow("q1", "d1", 1.0, query="dog")),
        ("quepid-snapshot-csv", RunRow("q1", "d1", 1.0, query="dog")),
    ],
)
def test_a_text_that_two_queries_share_is_refused(name: str, row: Any):
    with pytest.raises(NotValid, match="q1 and q2"):
        written(name, [row, replace(row, query_id="q2")])


def test_the_trec_export_has_floats_and_the_numbers_of_quepid() -> None:
    # app/views/api/v1/export/ratings/show_trec.txt.erb leaves blank lines.
    data = b"\n17 0 3574597 3.0\n\n17 0 193 0.0\n"
    rows, report = read("trec-qrels", data)
    assert sniff(data) == "trec-qrels"
    assert [(row.query_id, row.doc_id, row.grade) for row in rows] == [("17", "3574597", 3.0), ("17", "193", 0.0)]
    assert set(report.codes) == {"W35"}


def test_the_ltr_export() -> None:
    # app/views/api/v1/export/ratings/show_ltr.txt.erb
    data = b"\n3.0 qid:17 # 1370 star trek\n\n0.0 qid:17 # 193 star trek\n"
    rows, report = read("ltr", data)
    assert sniff(data) == "ltr"
    assert [(row.query, row.doc_id, row.grade) for row in rows] == [("star trek", "1370", 3), ("star trek", "193", 0)]
    assert set(report.codes) == {"W35"}
