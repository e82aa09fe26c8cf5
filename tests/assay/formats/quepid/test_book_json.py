"""Tests of Quepid books: pairs, judgments, raters, and what cannot be read."""

from __future__ import annotations

import io
import json
import random
import zipfile
from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.quepid.book_json import BookRating
from assay.formats.row_types import RatingRow

BOOK = FORMATS["quepid-book"]


def judgment(rating: Any = 2.0, email: Any = "ann@shop.example", **others: Any) -> dict[str, Any]:
    return {"rating": rating, "unrateable": False, "judge_later": False, "user_email": email, **others}


def pair(query: str = "tent", doc_id: Any = "d1", *judgments: Any, **others: Any) -> dict[str, Any]:
    return {"query_text": query, "doc_id": doc_id, "position": 1, "judgements": list(judgments), **others}


def book(*pairs: Any, **others: Any) -> bytes:
    return json.dumps({"name": "Shop", "scale": [0, 1, 2, 3], **others, "query_doc_pairs": list(pairs)}).encode()


def read(data: bytes) -> Any:
    return BOOK.read(data, path="book.json")


def written(rows: Any) -> bytes:
    stream = io.BytesIO()
    assert BOOK.write is not None
    BOOK.write(rows, stream)
    return stream.getvalue()


def large_book(pairs: int = 2_420, answers: int = 1_942, unrateable: int = 22) -> bytes:
    """A book of the size of a real one, with the answers of three raters."""
    chance = random.Random(5)
    listed = []
    for n in range(pairs):
        need = f"need {n // 20}"
        fields = json.dumps({"title": f"Title {n}", "price": n})
        listed.append(pair(f"query {n // 20}", f"doc {n}", document_fields=fields, information_need=need))
    places = [(n, rater) for n in range(pairs) for rater in range(3)]
    for at, (n, rater) in enumerate(chance.sample(places, answers + unrateable)):
        given = judgment(None, unrateable=True) if at < unrateable else judgment(float(chance.randrange(4)))
        listed[n]["judgements"].append(given | {"user_email": f"rater{rater}@shop.example"})
    return book(*listed)


def test_a_large_book_keeps_its_counts() -> None:
    result = read(large_book())
    states = [row.state for row in result.rows]
    assert (states.count("graded"), states.count("unrateable")) == (1_942, 22)
    assert len({(row.query_id, row.doc_id) for row in result.rows}) == 2_420
    assert {row.rater for row in result.rows if row.rater} == {"r01", "r02", "r03"}
    assert result.report.ok


def test_a_pair_has_its_need_position_and_document() -> None:
    fields = {"name": "Dome", "overview": "Two people", "price": 90, "tags": ["a"]}
    (row,) = read(book(pair("tent", "d1", judgment(), information_need="shelter", document_fields=fields))).rows
    assert (row.query, row.narrative, row.position, row.grade, row.by_text) == ("tent", "shelter", 1, 2, True)
    assert (row.document.title, row.document.fields["price"]) == ("Dome", 90)
    as_text = read(book(pair("tent", "d1", judgment(), document_fields=json.dumps(fields)))).rows[0]
    assert as_text.document == row.document


def test_states_other_than_a_grade() -> None:
    given = [judgment(None, unrateable=True), judgment(None, "ben@shop.example", judge_later=True, explanation="why")]
    rows = read(book(pair("tent", "d1", *given), pair("tent", "d2"))).rows
    assert [(row.state, row.grade, row.note) for row in rows] == [
        ("unrateable", None, ""),
        ("later", None, "why"),
        ("unrated", None, ""),
    ]


def test_no_name_or_address_of_a_rater_is_kept() -> None:
    data = book(pair("tent", "d1", judgment(9.0), judgment(1.0, "ben@shop.example"), judgment(2.0, None)))
    result = read(data)
    assert [row.rater for row in result.rows][-1] == "anonymous-1"
    everything = repr(result.rows) + result.report.as_json() + written(result.rows).decode()
    assert "shop.example" not in everything
    assert result.report.codes["E14"] == 1


def test_pseudonyms_do_not_follow_the_alphabet_and_stay_when_written() -> None:
    people = [f"{name}@shop.example" for name in ("ann", "ben", "cat", "dan", "eve", "fay")]
    rows = read(book(pair("tent", "d1", *(judgment(float(n % 4), one) for n, one in enumerate(people))))).rows
    names = [row.rater for row in rows]
    assert sorted(names) == [f"r{n:02d}" for n in range(1, 7)]
    assert names != sorted(names)
    assert [row.rater for row in read(written(rows)).rows] == names


def test_writing_reading_and_writing_gives_the_same_bytes() -> None:
    once = written(read(large_book()).rows)
    assert written(read(once).rows) == once


def test_older_books_and_scales_as_text() -> None:
    older = {
        "scorer": {"scale": "1,2,3", "scale_with_labels": {"1": "Bad"}},
        "selection_strategy": {"name": "Multiple"},
    }
    data = json.dumps({"name": "Old", **older, "query_doc_pairs": [pair("tent", "d1", judgment(3.0))]}).encode()
    (row,) = read(data).rows
    assert (row.book.scale, dict(row.book.labels)) == ((1, 2, 3), {"1": "Bad"})


def test_a_zip_archive_with_one_book() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("book_export_7.json", book(pair("tent", "d1", judgment())))
    assert len(read(stream.getvalue()).rows) == 1


def test_books_are_detected() -> None:
    assert sniff(book(pair())) == "quepid-book"
    assert sniff(large_book()[:65536]) == "quepid-book"
    assert sniff(written(read(book(pair())).rows), "ratings") == "quepid-book"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (pair("", "d1", judgment()), "E11"),
        (pair("x" * 3000, "d1", judgment()), "E21"),
        (pair("tent", "", judgment()), "E11"),
        (pair("tent", None, judgment()), "E23"),
        (pair("tent", "d\u0007", judgment()), "E19"),
        (pair("tent", "d1", judgment("good")), "E12"),
        (pair("tent", "d1", judgment(True)), "E12"),
        (pair("tent", "d1", judgment(2.5)), "E13"),
        (pair("tent", "d1", judgment(4.0)), "E14"),
        (pair("tent", "d1", judgment(None)), "E23"),
        (pair("tent", "d1", judgment(1.0, unrateable=True)), "E23"),
        (pair("tent", "d1", judgment(1.0, 7)), "E23"),
        (pair("tent", "d1", "3"), "E23"),
        (pair("tent", "d1", judgment(), judgement=1) | {"judgements": 3}, "E23"),
        (pair("tent", "d1", document_fields="[1"), "E24"),
        (pair("tent", "d1", document_fields=[1]), "E23"),
        ("tent", "E23"),
    ],
)
def test_a_bad_pair_or_judgment_is_reported_with_its_path(value: Any, code: str) -> None:
    report = read(book(pair("rope", "d9", judgment()), value)).report
    assert [problem.code for problem in report.errors] == [code]
    assert report.errors[0].column.startswith("query_doc_pairs[1]")
    assert report.accepted == 1


def test_lines_are_those_of_a_file_with_one_pair_per_line() -> None:
    data = written(read(book(pair("tent", "d1"), pair("tent", "d2"), pair("rope", "d3"))).rows)
    broken = data.replace(b'"doc_id":"d3"', b'"doc_id":""')
    assert [problem.line for problem in read(broken).report.errors] == [4]


def test_two_needs_for_a_query_and_two_judgments_of_a_rater_contradict() -> None:
    two = [pair("tent", "d1", information_need="a"), pair("tent", "d2", information_need="b")]
    assert [problem.code for problem in read(book(*two)).report.errors] == ["E18"]
    twice = read(book(pair("tent", "d1", judgment(1.0), judgment(2.0))))
    assert (twice.rows, twice.report.bins["conflict"]) == ([], 2)


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b'{"name": "x"}',
        b'{"query_doc_pairs": [',
        b'{"query_doc_pairs": []} more',
        b'{"scale": "a,b", "query_doc_pairs": []}',
        b'{"name": 1, "name": 2, "query_doc_pairs": []}',
        b'{"query_doc_pairs": ' + b"[" * 10_000,
        b'{"query_doc_pairs": [' + b'{"a":' * 10_000,
        '{"name": "ä", "query_doc_pairs": []}'.encode("latin-1"),
    ],
)
def test_files_that_are_no_books_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableInput):
        read(data)


def test_ratings_of_another_format_make_a_book() -> None:
    rows = [RatingRow("q2", "d1", "r02", 1, query="rope"), RatingRow("q1", "d1", "r01", 3, query="tent", note="best")]
    again = read(written(rows)).rows
    assert [(row.query, row.rater, row.grade, row.note) for row in again] == [
        ("tent", "r01", 3, "best"),
        ("rope", "r02", 1, ""),
    ]
    assert all(isinstance(row, BookRating) for row in again)
    with pytest.raises(NotValid):
        written([RatingRow("q1", "d1", "r01", 3)])
