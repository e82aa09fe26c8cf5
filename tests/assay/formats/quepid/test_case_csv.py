"""Tests of the CSV files of cases and snapshots, on the bytes of Quepid's own tests."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.errors import UnreadableInput
from assay.core.read_report import Report
from assay.formats import FORMATS, sniff
from assay.formats.qrels_and_runs import load_qrels, load_run


def read(name: str, data: bytes, **options: Any) -> tuple[list[Any], Report]:
    result = FORMATS[name].read(data, path="a.csv", **options)
    return list(result.rows), result.report


# o19s/quepid, spec/javascripts/vitest/utils/case_csv.test.js
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


@pytest.mark.parametrize("name", ["quepid-case-csv", "quepid-detailed-csv", "quepid-snapshot-csv"])
def test_formats_that_are_only_read(name: str):
    assert FORMATS[name].write is None


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
