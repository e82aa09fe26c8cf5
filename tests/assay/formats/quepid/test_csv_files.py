"""Tests of Quepid's CSV files."""

from __future__ import annotations

import io
from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.qrels_and_runs import load_qrels
from assay.formats.row_types import LabelRow, QueryRow, RatingRow
from tests.conftest import SHARED

CHORUS = SHARED / "data" / "chorus-ratings"


def read(name: str, text: str) -> Any:
    return FORMATS[name].read(text.encode(), path="a.csv")


def written(name: str, rows: Any, **options: Any) -> str:
    stream = io.BytesIO()
    write = FORMATS[name].write
    assert write is not None
    write(rows, stream, **options)
    return stream.getvalue().decode()


def test_basic_ratings() -> None:
    result = read("quepid-basic-csv", 'query,docid,rating\nstar wars,11,3.0\n"rope, thin",7,0\ntwo,,\none,d1,\n')
    assert [(row.query, row.doc_id, row.grade, row.by_text) for row in result.rows] == [
        ("star wars", "11", 3, True),
        ("rope, thin", "7", 0, True),
        ("one", "d1", None, True),
    ]
    assert (result.report.ok, set(result.report.codes)) == (True, {"W65"})


def test_a_space_in_front_of_a_formula() -> None:
    result = read("quepid-basic-csv", "query,docid,rating\n =cmd,12,1\n -40 degrees,12,1\n two,12,1\n")
    assert [row.query for row in result.rows] == ["=cmd", "-40 degrees", " two"]
    assert result.report.codes == {"W37": 2}
    again = written("quepid-basic-csv", result.rows)
    assert "\n =cmd,12,1\n -40 degrees,12,1\n two,12,1\n" in again
    assert written("quepid-basic-csv", read("quepid-basic-csv", again).rows) == again


def test_ids_of_documents_are_not_changed() -> None:
    assert written("quepid-basic-csv", read("quepid-basic-csv", "query,docid,rating\na,=1,1\n").rows).endswith(
        ",=1,1\n"
    )


def test_a_query_with_a_comma_and_a_quote_is_noted() -> None:
    stream, write = io.BytesIO(), FORMATS["quepid-basic-csv"].write
    assert write is not None
    rows = read("quepid-basic-csv", 'query,docid,rating\n"a ""b"", c",1,1\n').rows
    assert len(write(rows, stream).notes) == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [("a,d1,x", "E12"), (",d1,1", "E11"), ("a,,1", "E11"), ("a,d1", "E10"), ("a,d1,1,2", "E10")],
)
def test_bad_lines_are_reported(line: str, code: str) -> None:
    report = read("quepid-basic-csv", f"query,docid,rating\nb,d1,1\n{line}\n").report
    assert [(problem.code, problem.line) for problem in report.errors] == [(code, 3)]


def test_qrels_have_the_texts_as_ids_so_that_no_other_query_is_meant() -> None:
    assert load_qrels(b"query,docid,rating\nstar wars,11,3\n")[0].to_dict() == {"star wars": {"11": 3.0}}


def test_ratings_by_rater() -> None:
    text = 'query,docid,Rater One,Anonymous\nstar wars,11,3.0,2.0\n =cmd,12,"",0.0\nstar wars,13,,\n\n'
    result = read("quepid-book-csv", text)
    grades = {(row.query, row.doc_id): set() for row in result.rows}
    for row in result.rows:
        grades[row.query, row.doc_id].add(row.grade)
    assert grades == {("star wars", "11"): {2, 3}, ("=cmd", "12"): {0}, ("star wars", "13"): {None}}
    assert {row.rater for row in result.rows} == {"r01", "r02", ""}
    assert "Rater One" not in repr(result.rows) + result.report.as_json()
    again = written("quepid-book-csv", result.rows)
    assert written("quepid-book-csv", read("quepid-book-csv", again).rows) == again


def test_two_raters_with_one_name_are_not_merged() -> None:
    with pytest.raises(Exception) as caught:
        read("quepid-book-csv", "query,docid,Ann,Ann\nstar wars,11,3,2\n")
    assert getattr(caught.value, "code", "") == "E22"


def test_documents_and_final_ratings_of_an_exported_book() -> None:
    text = "query,docid,name,description,agent_1,agent_2,final_rating\ntent,d1,Dome,For two,2,3,3\n"
    rows = read("quepid-book-csv", text).rows
    assert [(row.rater, row.grade, row.source) for row in rows if row.rater == "final"] == [("final", 3, "adjudicated")]
    assert (len(rows), rows[0].document.title, rows[0].document.text) == (3, "Dome", "For two")


def test_needs() -> None:
    (row,) = read("quepid-needs-csv", "query,information_need\nstar trek,Films of the series\n").rows
    assert (row.query, row.narrative) == ("star trek", "Films of the series")


@pytest.mark.parametrize(
    ("name", "format", "rows"),
    [
        ("Broad_Query_Set_individual_ratings.csv", "quepid-book-csv", 12_752),
        ("Broad_Query_Set_rated.csv", "quepid-basic-csv", 3_668),
        ("Broad_Query_Set_unrated.csv", "quepid-basic-csv", 3_188),
        ("Chorus_Electronics_basic.csv", "quepid-basic-csv", 207),
    ],
)
def test_files_of_chorus(name: str, format: str, rows: int) -> None:
    if not CHORUS.is_dir():
        pytest.skip("../shared/data/chorus-ratings is not there")
    data = (CHORUS / name).read_bytes()
    assert sniff(data[:65536]) == format
    result = FORMATS[format].read(data, path=name)
    assert (len(result.rows), result.report.ok) == (rows, True)
    again = written(format, result.rows)
    assert written(format, read(format, again).rows) == again


def test_fractions_are_kept_unless_there_is_a_scale() -> None:
    text = "query,docid,rating\na,d1,2.5\na,d2,3.0\na,d3,7\n"
    rows = read("quepid-basic-csv", text).rows
    assert [row.grade for row in rows] == [2.5, 3.0, 7.0]
    assert written("quepid-basic-csv", rows) == text.replace("3.0", "3")
    result = FORMATS["quepid-basic-csv"].read(text.encode(), path="a", grades=(0, 1, 2, 3))
    assert [row.grade for row in result.rows] == [3]
    assert result.report.codes == {"E13": 1, "E14": 1, "W32": 1}


def test_more_than_999_queries_keep_their_order() -> None:
    lines = "".join(f"query {number},d1,1\n" for number in range(1_001))
    rows = read("quepid-basic-csv", f"query,docid,rating\n{lines}").rows
    assert (rows[0].query_id, rows[-1].query_id) == ("q0001", "q1001")
    again = written("quepid-basic-csv", rows)
    assert written("quepid-basic-csv", read("quepid-basic-csv", again).rows) == again


@pytest.mark.parametrize("name", ["quepid-basic-csv", "quepid-book-csv", "quepid-needs-csv"])
def test_a_text_that_two_queries_share_cannot_be_written(name: str) -> None:
    rows = {
        "quepid-basic-csv": [LabelRow(query_id, "d1", 1.0, query="tent") for query_id in ("q1", "q2")],
        "quepid-book-csv": [RatingRow(query_id, "d1", "r01", 1, query="tent") for query_id in ("q1", "q2")],
        "quepid-needs-csv": [QueryRow(query_id, "tent") for query_id in ("q1", "q2")],
    }
    with pytest.raises(NotValid, match="q1 and q2"):
        written(name, rows[name])


# tballison/quaerite, quaerite-examples/example_files/movie_judgments.csv and movie_judgments_boosting.csv
QUAERITE = "rating,docid,query\n4,7555,rambo\n3,1370,rambo\n0,70,rambo\n4,1366,rocky\n"
BOOSTING = "rating,docid,positive,negative\n4,1370,rambo,kang\n4,7555,rambo,\n"


def test_judgments_of_quaerite() -> None:
    result = read("quaerite-csv", QUAERITE)
    assert sniff(QUAERITE.encode()) == "quaerite-csv"
    assert [(row.query, row.doc_id, row.grade) for row in result.rows][::3] == [
        ("rambo", "7555", 4),
        ("rocky", "1366", 4),
    ]
    again = written("quaerite-csv", result.rows)
    assert again == "rating,docid,query\n3,1370,rambo\n0,70,rambo\n4,7555,rambo\n4,1366,rocky\n"
    assert written("quaerite-csv", read("quaerite-csv", again).rows) == again


def test_several_query_columns_of_quaerite_are_mapped() -> None:
    with pytest.raises(UnreadableInput) as refused:
        read("quaerite-csv", BOOSTING)
    assert refused.value.code == "F04"
    result = FORMATS["quaerite-csv"].read(BOOSTING.encode(), path="a", columns={"query": "positive"})
    assert [(row.query, row.doc_id) for row in result.rows] == [("rambo", "1370"), ("rambo", "7555")]
    assert result.report.codes == {"W41": 1, "W47": 1}
