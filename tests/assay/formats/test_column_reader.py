"""Tests of the columnar reader: same rows and same issues as the line-by-line reader."""

from __future__ import annotations

import io
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UnreadableInput
from assay.formats import FORMATS, column_reader
from assay.formats.row_columns import RowColumns

IDS = ["q1", "q2", "d1", "d2", "d3", "Jacke grün"]
ODD_IDS = [
    "",
    "cafe\u0301",
    "a\u00a0b",
    "'=x",
    "'tis",
    "x" * 501,
    "q\x01",
    "q\x7f",
    "#q",
    " q",
    " -q",
    "jo@host.example",
    '"open',
    '"a"b',
]
QUOTED = ['"d4"', '"a ""b"" c"', '"red, blue"', '"two\nlines"', '"two\r\nlines"', '"two\n\nlines"']
GRADES = ["0", "1", "2", "3"]
ODD_GRADES = ["3.0", "2.5", "", "x", "-1", "1e0", " 2 ", "+1", "1.", ".5", '"2"', "9" * 16, "inf", "nan"]
STATES = ["", "graded", "unrateable", "later", "cannot_judge", "lost"]
LINES = ["", "   ", ",", "x", '"', "a,b,c,d,e,f,g,h,i", "# a comment", "a b c", "\t"]
RATINGS = ["query_id", "doc_id", "rater_id", "grade", "state", "source", "ms_active", "note"]
# What separates cells, whether a header names them, and which there are.
FILES = {
    "ratings-csv": (",", True, RATINGS),
    "ratings-csv by text": (",", True, ["query", *RATINGS[1:]]),
    "quepid-detailed-csv": (",", True, ["query text", "doc id", "rating"]),
    "qrels-csv": (";", True, ["doc_id", "query_id", "grade"]),
    "quepid-basic-csv": (",", True, ["query", "docid", "rating"]),
    "quepid-book-csv": (",", True, ["query", "docid", "Ann", "final_rating", "Bob"]),
    "quaerite-csv": (",", True, ["rating", "docid", "query"]),
    "query-log-csv": (",", True, ["query", "count", "clients", "language"]),
    "run-csv": (",", True, ["query_id", "doc_id", "rank", "score", "tag"]),
    "beir-qrels": ("\t", True, ["query-id", "corpus-id", "score"]),
    "msmarco-run": ("\t", False, ["query_id", "doc_id", "rank"]),
    "trec-qrels": (" ", False, ["query_id", "iteration", "doc_id", "grade"]),
    "trec-subtopic-qrels": ("\t", False, ["query_id", "subtopic", "doc_id", "grade"]),
    "trec-run": (" ", False, ["query_id", "iteration", "doc_id", "rank", "score", "tag"]),
}


def some(chance: Random, common: list[str], odd: list[str]) -> str:
    """A value, which is rarely odd."""
    return chance.choice(odd if chance.random() < 1 / 16 else common)


def odd_file(chance: Random, name: str) -> bytes:
    """A file of the format in which some lines are odd, and some stand twice."""
    separator, named, columns = FILES[name]
    numbers = dict.fromkeys(("grade", "rating", "score", "rank", "count", "clients"), (GRADES, ODD_GRADES))
    numbers |= dict.fromkeys(("Ann", "final_rating", "Bob"), ([*GRADES, "", '""'], ODD_GRADES))
    of = numbers | {"state": (["", "graded"], STATES), "ms_active": (["12", ""], ODD_GRADES)}
    values = [of.get(column, (IDS, ODD_IDS + QUOTED)) for column in columns]
    lines = [
        chance.choice(LINES) if chance.random() < 1 / 7 else separator.join(some(chance, *each) for each in values)
        for _ in range(chance.randint(0, 20))
    ]
    lines += chance.choices(lines, k=chance.randint(0, 3)) if lines else []
    end = chance.choice(["\n", "\n", "\r\n", "\r"])
    text = end.join([*([separator.join(columns)] if named else []), *lines]) + chance.choice(["", end])
    return text.encode()


def outcome(name: str, data: bytes, **options: Any) -> tuple[object, object]:
    """What the reader says of a file."""
    try:
        result = FORMATS[name.partition(" ")[0]].read(data, path="file", **options)
    except UnreadableInput as error:
        return str(error), error.code
    return [repr(row) for row in result.rows], result.report


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@given(chance=st.randoms(use_true_random=True))
def test_odd_lines_are_reported_as_the_careful_reader_reports_them(name: str, chance: Random) -> None:
    # Hypothesis draws only the seed: to draw each cell takes longer than to read the files.
    file = odd_file(chance, name)
    repeated: list[dict[str, Any]] = [{"repeated": "sum"}, {"repeated": "max"}, {"repeated": "first"}]
    graded: list[dict[str, Any]] = [{"grades": (0, 1, 2, 3)}, {"grades": (0, 1, 2, 3), "conflicts": "last"}]
    of_format = repeated if "log" in name else [] if "run" in name or "book" in name else graded
    options = chance.choice([{}, *of_format])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_reader, "PIECE", chance.choice([40, 400, 1 << 20]))
        # Lines are read with care as soon as one is odd, or only where that one is.
        patch.setattr(column_reader, "MOST_ODD", 10**9)
        careful = outcome(name, file, **options)
        patch.setattr(column_reader, "MOST_ODD", 1)
        assert outcome(name, file, **options) == careful


def test_invalid_line_is_reported_with_its_number() -> None:
    lines = [f"q{n // 10},d{n},r{n % 3},{n % 4}" for n in range(1000)]
    lines[700] = "q70,d700,r1,four"
    lines[800] = "q20,d200,r2,1"
    result = FORMATS["ratings-csv"].read(("query_id,doc_id,rater,grade\n" + "\n".join(lines)).encode(), path="file")
    assert [(problem.line, problem.code) for problem in result.report.errors] == [
        (702, "E12"),
        (202, "E16"),
        (802, "E16"),
    ]
    assert isinstance(result.rows, RowColumns)
    assert len(result.rows) == 997
    assert [(row.doc_id, row.line) for row in result.rows[198:202]] == [
        ("d198", 200),
        ("d199", 201),
        ("d201", 203),
        ("d202", 204),
    ]
    assert result.report.histogram == {"0": 247, "1": 250, "2": 250, "3": 250}


def test_quoted_cells_are_read_in_columns() -> None:
    quoted = b'"query_id","doc_id","rater","grade","note"\n"q1","d1","r1","3","slow, but fine"\n"q1","d2","r1","0",""\n'
    result = FORMATS["ratings-csv"].read(quoted, path="file")
    assert isinstance(result.rows, RowColumns)
    assert [(row.doc_id, row.grade, row.note) for row in result.rows] == [("d1", 3, "slow, but fine"), ("d2", 0, "")]


@pytest.mark.parametrize("target", ["trec-qrels", "qrels-csv", "beir-qrels", "qrels-jsonl", "qrels-json"])
def test_labels_that_are_columns_are_written_as_rows_are(target: str) -> None:
    lines = [f"q{n * 7 % 5} {n % 2} d{n * 13 % 40} {n % 4}" for n in range(40)]
    rows = FORMATS["trec-qrels"].read("\n".join(lines).encode(), path="file").rows
    assert isinstance(rows, RowColumns)
    assert written(target, rows) == written(target, list(rows))


@pytest.mark.parametrize("target", ["quepid-basic-csv", "quaerite-csv", "trec-qrels"])
def test_labels_by_text_that_are_columns_are_written_as_rows_are(target: str) -> None:
    lines = [f"shoes {n * 7 % 5},d{n * 13 % 40},{n % 4 or ''}" for n in range(40)]
    rows = FORMATS["quepid-basic-csv"].read("\n".join(["query,docid,rating", *lines]).encode(), path="file").rows
    assert isinstance(rows, RowColumns)
    assert written(target, rows) == written(target, list(rows))


@pytest.mark.parametrize("target", ["trec-run", "run-csv", "msmarco-run", "run-jsonl", "run-json"])
def test_results_that_are_columns_are_written_as_rows_are(target: str) -> None:
    lines = [f"q{n * 7 % 5} Q0 d{n * 13 % 40} {n} {n % 6 / 2} bm25" for n in range(40)]
    rows = FORMATS["trec-run"].read("\n".join(lines).encode(), path="file").rows
    assert isinstance(rows, RowColumns)
    assert written(target, rows) == written(target, list(rows))


def written(target: str, rows: Sequence[Any]) -> tuple[bytes, object]:
    """What a writer makes of rows."""
    write, stream = FORMATS[target].write, io.BytesIO()
    assert write is not None
    report = write(rows, stream)
    return stream.getvalue(), report


def test_rows_are_a_sequence() -> None:
    data = b"query_id,doc_id,rater,grade\nq1,d1,a,1\nq1,d2,a,2\nq1,d3,a,3\n"
    rows = FORMATS["ratings-csv"].read(data, path="file").rows
    assert (rows[-1].doc_id, [row.grade for row in rows[::2]], rows[1] in rows) == ("d3", [1, 3], True)
    assert rows == list(rows)
    assert rows != list(rows)[1:]
    with pytest.raises(IndexError):
        rows[3]


@pytest.mark.parametrize(
    ("place", "row", "bins"),
    [
        (90, "q0,d1,r1,2", {"duplicate": 1}),
        (4, "q0,d1,r2,2", {"duplicate": 1}),
        (90, "q0,d1,r4,2", {}),
        (4, "q0,d1,r2,3", {"conflict": 2}),
    ],
)
def test_repeated_ratings_of_adjacent_rows_are_detected(place: int, row: str, bins: dict[str, int]):
    rows = [f"q{pair // 3},d{pair},r{rater},2" for pair in range(30) for rater in range(3)]
    rows.insert(place, row)
    result = FORMATS["ratings-csv"].read("\n".join(["query_id,doc_id,rater_id,grade", *rows, ""]).encode(), path="file")
    assert {name: result.report.bins[name] for name in ("duplicate", "conflict")} == {
        "duplicate": 0,
        "conflict": 0,
    } | bins
