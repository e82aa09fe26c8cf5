"""Ratings as CSV: one row for each rater's grade of a pair."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import numpy.typing as npt

from assay.core.csv_cells import escape
from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import id_fault
from assay.formats.column_names import ColumnMap
from assay.formats.column_reader import Lines, Plain, Warned, count_grades, plain_ids, rows_in_columns
from assay.formats.csv_columns import CsvLayout, whole_numbers
from assay.formats.delimited import Cells, Columns
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick, checked_id, count, scale_grade
from assay.formats.queries import could_be_query, query_fault, query_id_fault
from assay.formats.reader import note_unusual, reader
from assay.formats.row_columns import Coded, Column, Meant, RowColumns
from assay.formats.row_types import RatingRow
from assay.formats.text_keys import numbered
from assay.formats.text_lines import Content
from assay.formats.trec_lines import Fields
from assay.formats.writer import Written, optional_cell, write_csv

if TYPE_CHECKING:
    from assay.core.ratings import Ratings

NAME = "ratings-csv"
HEADER = [
    "query_id",
    "query",
    "doc_id",
    "grade",
    "state",
    "rater_id",
    "source",
    "guideline",
    "rated_at",
    "ms_active",
    "note",
]
EXAMPLE = (
    ",".join(HEADER) + "\n"
    "q001,running shoes,doc-abc,3,graded,r01,human,2,2026-03-02T09:14:07Z,6120,\n"
    'q001,running shoes,doc-xyz,,unrateable,r02,human,2,2026-03-02T09:14:31Z,9800,"page is empty, no title"\n'
)
STATES = ("graded", "unrateable", "later", "unrated")
ONE_RATER = "imported"
COLUMNS = Columns(
    {
        "query_id": ("qid",),
        "query": ("query_text",),
        "doc_id": ("docno", "docid"),
        "grade": ("rating",),
        "state": (),
        "rater_id": ("rater", "judge"),
        "source": (),
        "guideline": (),
        "rated_at": (),
        "ms_active": (),
        "note": ("notes", "explanation"),
    },
    ("doc_id", "grade"),
    numeric=frozenset({"grade", "ms_active", "rated_at"}),
)

# Rows of machines, gold pairs and resolutions do not count as grades of raters.
HUMAN = frozenset({"human", "import", ""})


def _read(
    content: Content,
    tally: Tally,
    *,
    grades: Grades = None,
    columns: ColumnMap = None,
    delimiter: str | None = None,
    conflicts: Pick | None = None,
    escaped: bool = True,
) -> Sequence[RatingRow]:
    layout = _Ratings(content, COLUMNS, mapping=columns, delimiter=delimiter, unescaped=escaped)
    layout.grades, layout.conflicts = grades, conflicts
    rows = rows_in_columns(content, tally, layout)
    return rows if "query_id" in layout.places or not rows else numbered(rows)


# The columns query_id, doc_id, rater and grade are enough.
read = reader(NAME, "query_id,doc_id,rater,grade", _read)


def graded(rows: Sequence[RatingRow], sources: Collection[str] | None = None) -> Ratings:
    """Return the grades of rows as a table, optionally only those of some sources."""
    from assay.core.ratings import Ratings

    chosen = _are_grades(rows, sources)
    if not isinstance(rows, RowColumns):
        selected = (row for row, counts in zip(rows, chosen.tolist(), strict=True) if counts)
        return Ratings.from_rows((row.query_id, row.doc_id, row.rater, row.grade or 0) for row in selected)
    places = np.flatnonzero(chosen)
    grades, raters = rows.coded("grade"), rows.coded("rater")
    values = np.array([grade or 0 for grade in grades.values], dtype=np.int64)
    return Ratings.from_columns(
        rows.texts("query_id").take(places),
        rows.texts("doc_id").take(places),
        raters.values,
        raters.codes[places],
        values[grades.codes[places]],
    )


def not_graded(rows: Sequence[RatingRow], sources: Collection[str]) -> Sequence[RatingRow]:
    """Return the rows that `graded` skips."""
    places = np.flatnonzero(~_are_grades(rows, sources))
    return rows.at(places) if isinstance(rows, RowColumns) else [rows[place] for place in places.tolist()]


def _are_grades(rows: Sequence[RatingRow], sources: Collection[str] | None) -> npt.NDArray[np.bool_]:
    """Return which rows are grades of one of the sources."""

    def wanted(source: str) -> bool:
        return sources is None or source in sources

    if not isinstance(rows, RowColumns):
        return np.array([row.grade is not None and wanted(row.source) for row in rows], dtype=np.bool_)
    chosen = rows.coded("grade").where(lambda grade: grade is not None)
    if "source" in rows.columns:
        return chosen & rows.coded("source").where(wanted)
    return chosen & wanted("human")


def write(rows: Iterable[RatingRow], stream: BinaryIO, *, omit_unrated: bool = True, mark: bool = False) -> Written:
    """Write ratings by query, document and rater."""
    exported = (row for row in rows if not (omit_unrated and row.state == "unrated"))
    ordered = sorted(exported, key=lambda row: (row.query_id, row.doc_id, row.rater))
    stream.write(b"\xef\xbb\xbf" if mark else b"")
    return write_csv(stream, HEADER, ordered, _row_cells, "the rating of {0.doc_id!r}")


def _row_cells(row: RatingRow) -> list[str]:
    return [
        escape(row.query_id),
        escape(row.query),
        escape(row.doc_id),
        optional_cell(row.grade),
        "" if row.state == "unrated" else row.state,
        escape(row.rater),
        row.source,
        escape(row.guideline),
        row.rated_at,
        optional_cell(row.ms_active),
        escape(row.note),
    ]


class _Ratings(CsvLayout[RatingRow]):
    """Layout of ratings in a CSV file."""

    row = RatingRow
    keys = ("query_id", "doc_id", "rater")
    grades: Grades = None
    conflicts: Pick | None = None

    def begin(self, lines: Lines, tally: Tally) -> None:
        super().begin(lines, tally)
        if "query_id" not in self.places:
            self.keys = ("query", "doc_id", "rater")
        # Generated ids of the queries of a file that has only their texts.
        self.ids: dict[str, str] = {}

    def keyed(self, tally: Tally) -> Keyed[RatingRow]:
        return Keyed(tally, self.conflicts)

    def split(self, data: bytes) -> Fields | None:
        return super().split(data) if {"query_id", "query"} & set(self.places) else None

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = self.texts(fields, "query_id"), fields.texts(self.places["doc_id"])
        good = plain_ids(doc_ids)
        if query_ids is not None:
            good &= plain_ids(query_ids)
        else:
            good &= Coded.of(fields.texts(self.places["query"])).where(could_be_query)
        raters, warned = Coded.same(ONE_RATER, fields.rows), [Warned("W48", np.ones(fields.rows, dtype=np.bool_))]
        if (named := self.texts(fields, "rater_id")) is not None:
            raters, warned = Coded.of(named), []
            good &= ~raters.where(lambda text: id_fault(text) is not None)
        answers = self._answers(fields)
        good &= ~answers.where(lambda answer: answer is None)
        columns: dict[str, Column] = {
            **({} if query_ids is None else {"query_id": query_ids}),
            "doc_id": doc_ids,
            "rater": raters,
            "grade": answers.mapped(lambda answer: answer and answer[1]),
            "state": answers.mapped(lambda answer: answer and answer[0]),
        }
        if (sources := self.texts(fields, "source")) is not None:
            columns["source"] = Coded.of(sources).mapped(lambda text: text or "human")
        if (active := self.texts(fields, "ms_active")) is not None:
            good &= whole_numbers(active)
            columns["ms_active"] = Meant(active, lambda text: count(text, "ms_active"))
        for name in ("query", "guideline", "rated_at", "note"):
            if (texts := self.texts(fields, name)) is not None:
                columns[name] = texts
        repaired = answers.where(lambda answer: answer is not None and answer[2])
        return Plain(columns, good, repaired, [*warned, Warned("W32", repaired)])

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[RatingRow]) -> None:
        add_rating(cells, self.ids, tally, self.grades, by_key)

    def count(self, rows: Sequence[RatingRow], tally: Tally) -> None:
        count_grades(rows, tally)

    def _answers(self, fields: Fields) -> Coded:
        """Return state, grade and repair flag of each row; None if the careful reader is needed."""
        given = Coded.of(fields.texts(self.places["grade"]))
        stated = self.texts(fields, "state")
        states = Coded.same(None, fields.rows) if stated is None else Coded.of(stated)
        trial = Tally("", NAME)

        def answer(text: str, state: str | None) -> tuple[str, int | None, bool] | None:
            try:
                return _answer(text.strip(), state, 0, trial, self.grades)
            except RowFault:
                return None

        return given.crossed(states, answer)


def add_rating(cells: Cells, ids: dict[str, str], tally: Tally, grades: Grades, by_key: Keyed[RatingRow]) -> None:
    """Add a row of a table of ratings; an invalid one is rejected. The ids are those of queries without an id."""
    if "query_id" not in cells.of and "query" not in cells.of:
        expected = "expected a column query_id or query; map a column (columns: query_id=NAME)"
        tally.refuse("the header has neither query_id nor query", line=1, expected=expected, code="F04")
    with tally.rejecting(cells.line, raw=cells.raw):
        row, repaired = _rating(cells, ids, tally, grades)
        value = row.grade if row.state == "graded" else row.state
        by_key.add((row.query_id, row.doc_id, row.rater), value, row, cells.line, cells.raw, repaired or cells.repaired)


def _rating(cells: Cells, ids: dict[str, str], tally: Tally, grades: Grades) -> tuple[RatingRow, bool]:
    of, query = cells.of, cells.of.get("query", "")
    if fault := query_fault(query) if "query_id" not in of else query_id_fault(of["query_id"]):
        raise RowFault(*fault)
    for name in ("doc_id", "rater_id"):
        checked_id(of.get(name, ONE_RATER), name)
    if "rater_id" not in of:
        tally.once("W48", cells.line, "no column for the rater", done=f"all rows are assigned to {ONE_RATER!r}")
    note_unusual(tally, cells.line, of.get("query_id", ""), of["doc_id"])
    state, grade, repaired = _answer(of["grade"].strip(), of.get("state"), cells.line, tally, grades)
    row = RatingRow(
        of["query_id"] if "query_id" in of else ids.setdefault(query, f"q{len(ids) + 1:03d}"),
        of["doc_id"],
        of.get("rater_id", ONE_RATER),
        grade,
        state,
        query,
        of.get("source", "") or "human",
        of.get("guideline", ""),
        of.get("rated_at", ""),
        count(of.get("ms_active", ""), "ms_active"),
        of.get("note", ""),
        cells.line,
        "query_id" not in of,
    )
    return row, repaired


def _answer(text: str, stated: str | None, line: int, tally: Tally, grades: Grades) -> tuple[str, int | None, bool]:
    """Return state, grade, and whether the grade was repaired."""
    state = (stated or "").strip() or ("graded" if text else "unrated")
    state = "unrateable" if state == "cannot_judge" else state
    if state not in STATES:
        raise RowFault("E23", f"unknown state {state!r}", f"expected one of {', '.join(STATES)}")
    if (state == "graded") != bool(text):
        what = (
            f"the state is {state!r} and the grade {text!r}" if text else "the state is 'graded' but there is no grade"
        )
        raise RowFault("E23", what, "only the state graded has a grade, and it needs one")
    if not text:
        return state, None, False
    grade, repaired = scale_grade(text, grades)
    if repaired:
        tally.once("W32", line, f"the grade is written as {text}", done=f"read as {grade}")
    return state, grade, repaired


FORMAT = Format(
    name=NAME,
    title="Ratings, CSV",
    kind="ratings",
    extensions=(".csv", ".tsv"),
    description="One judgment of one rater per row, without loss; also for ratings from a spreadsheet.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any whole number is accepted",
        "columns": "maps columns of the file, such as rater_id=agent",
        "conflicts": "first, last, min or max: which of a rater's two grades for a pair to use",
        "escaped": "false: keep apostrophes in front of formulas",
    },
)
