"""CSV files of Quepid: basic ratings, ratings by rater, and information needs; and the judgments of quaerite.

Quepid identifies queries by their text. In front of a cell that a spreadsheet might run as a formula it writes a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from assay.core.csv_cells import csv_row
from assay.core.read_report import RowFault, Tally
from assay.core.text_column import Places
from assay.formats.column_names import ColumnMap
from assay.formats.column_reader import Lines, Plain, count_grades, plain_ids, rows_in_columns
from assay.formats.csv_columns import CsvLayout
from assay.formats.delimited import Cells, Columns, read_table
from assay.formats.documents import document_of
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick, checked_id
from assay.formats.quepid.book_json import BookRating, pseudonyms
from assay.formats.queries import could_be_query, may_be_personal
from assay.formats.reader import note_unusual, reader
from assay.formats.row_columns import Coded, Column, taken
from assay.formats.row_types import LabelRow, QueryRow, RatingRow
from assay.formats.text_columns import TextLabelLayout, numbered_rows, write_text_labels
from assay.formats.text_keys import TextKeys, numbered, query_text, refuse_shared_texts, whole_rating
from assay.formats.text_lines import Content
from assay.formats.trec_lines import Fields
from assay.formats.writer import Written, export_order, write_csv

BASIC, BOOK, NEEDS, QUAERITE = "quepid-basic-csv", "quepid-book-csv", "quepid-needs-csv", "quaerite-csv"
_FORMULA = re.compile(r"[-=+@]")
_OWN = re.compile(r"(r\d+)")
_BASIC = Columns({"query": (), "docid": (), "rating": ()}, ("query", "docid", "rating"))
_NEEDS = Columns({"query": (), "information_need": ()}, ("query", "information_need"))
_BOOK = Columns({"query": ("query_text",), "docid": ("doc_id",)}, ("query", "docid"), keep_others=True)
# Columns of exported books that describe the document, and the column of a rating that settled a conflict.
_DOCUMENT = frozenset({"title", "name", "description", "text", "url", "image"})
_FINAL, _ADJUDICATED = "final_rating", "adjudicated"


def _unspaced(cells: Cells, column: str, tally: Tally) -> str:
    """Return a cell without the space that Quepid writes in front of a formula."""
    text = cells.of[column]
    if text[:1] == " " and _FORMULA.match(text, 1):
        tally.once("W37", cells.line, "a space in front of a formula", done="removed", column=column)
        return text[1:]
    return text


def spaced(text: str) -> str:
    """Return a text with a space in front of a formula, as Quepid writes it."""
    return f" {text}" if _FORMULA.match(text) else text


def _checked(cells: Cells, keys: TextKeys, tally: Tally) -> tuple[str, str, str]:
    """Return the query's id and text, and the document's id."""
    text, doc_id = _unspaced(cells, "query", tally), cells.of["docid"]
    query_id = keys.query_id(text, cells.line)
    checked_id(doc_id)
    note_unusual(tally, cells.line, doc_id)
    return query_id, text, doc_id


def _is_plain(query: str) -> bool:
    """Return whether a query can be read without a change or a warning."""
    return query[:1] != " " and could_be_query(query) and not may_be_personal(query)


class _Spaced(TextLabelLayout):
    """Layout of Quepid's own files, with a space in front of a query that is a formula."""

    def query_of(self, cells: Cells, tally: Tally) -> str:
        return _unspaced(cells, "query", tally)

    def is_plain(self, query: str) -> bool:
        return _is_plain(query)


def _read_basic(
    content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
) -> Sequence[LabelRow]:
    return numbered_rows(content, tally, _Spaced(content, _BASIC, grades, conflicts))


def _read_quaerite(
    content: Content, tally: Tally, *, grades: Grades = None, columns: ColumnMap = None, conflicts: Pick | None = None
) -> Sequence[LabelRow]:
    return numbered_rows(content, tally, TextLabelLayout(content, _BASIC, grades, conflicts, mapping=columns))


def _write_basic(
    rows: Iterable[LabelRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    omit_unrated: bool = True,
) -> Written:
    """Write labels; Quepid's import page refuses a query with both a comma and a quote."""
    difficult: set[str] = set()

    def query_cell(query: str) -> str:
        if '"' in query and "," in query:
            difficult.add(query)
        return spaced(query)

    written = write_text_labels(
        BASIC,
        ["query", "docid", "rating"],
        lambda query, doc_id, grade: f"{query},{doc_id},{grade}\n",
        rows,
        stream,
        queries,
        query_cell=query_cell,
        omit_unrated=omit_unrated,
    )
    count = len(difficult)
    notes = (f"{count:,} queries have a comma and a quote; Quepid's import page refuses them",) if count else ()
    return replace(written, notes=notes)


def _write_quaerite(rows: Iterable[LabelRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None) -> Written:
    """Write labels with the columns of quaerite's own files."""
    header = ["rating", "docid", "query"]
    line = "{2},{1},{0}\n".format
    return write_text_labels(QUAERITE, header, line, rows, stream, queries)


class _Book(CsvLayout[BookRating]):
    """Layout of a book: a line has a rating in the column of each rater, and counts as one row for each rating."""

    row = BookRating
    keys = ("query", "doc_id")

    def begin(self, lines: Lines, tally: Tally) -> None:
        super().begin(lines, tally)
        others = self.header.others if self.header else {}
        self.documents = [name for name in others if name.casefold() in _DOCUMENT]
        names = [name for name in others if name.casefold() not in _DOCUMENT]
        # The rater and the source of each column with ratings.
        self.raters = dict.fromkeys(names, ("final", _ADJUDICATED))
        own = pseudonyms((name for name in names if name.casefold() != _FINAL), _OWN)
        self.raters |= {name: (rater, "human") for name, rater in own.items()}

    def keyed(self, tally: Tally) -> Keyed[BookRating]:
        self._text_keys = TextKeys(tally)
        return super().keyed(tally)

    def split(self, data: bytes) -> Fields | None:
        several_finals = sum(source == _ADJUDICATED for _, source in self.raters.values()) > 1
        return None if self.documents or several_finals else super().split(data)

    def plain(self, fields: Fields) -> Plain:
        queries, doc_ids = fields.texts(self.places["query"]), fields.texts(self.places["docid"])
        good = plain_ids(doc_ids) & Coded.of(queries).where(_is_plain)
        columns: dict[str, Column] = {"query": queries, "doc_id": doc_ids}
        others = self.header.others if self.header else {}
        for number, name in enumerate(self.raters):
            columns[f"grade {number}"] = grades = Coded.of(fields.texts(others[name])).mapped(_grade_or_fault)
            good &= ~grades.where(lambda grade: isinstance(grade, RowFault))
        return Plain(columns, good)

    def spread(self, columns: dict[str, Column], lines: Places, tally: Tally) -> tuple[dict[str, Column], Places]:
        cells = [cast(Coded, columns[f"grade {number}"]) for number in range(len(self.raters))]
        graded = [one.where(lambda grade: grade is not None) for one in cells]
        # A line without a rating is a pair that no rater has rated.
        unrated = ~np.any(graded, axis=0) if graded else np.ones(len(lines), dtype=np.bool_)
        line, place = np.nonzero(np.column_stack([*graded, unrated]))
        tally.read(len(line) - len(lines))
        tally.put("accepted", len(line) - len(lines))
        grades = np.column_stack([*map(_numbers, cells), np.zeros(len(lines), dtype=np.int64)])[line, place]
        values, codes = np.unique(grades, return_inverse=True)
        codes[place == len(cells)] = len(values)
        of_place = Coded([*self.raters.values(), ("", "human")], place.astype(np.int32))
        of_rows: dict[str, Column] = {
            **{name: taken(columns[name], line) for name in self.keys},
            "rater": of_place.mapped(lambda one: one[0]),
            "grade": Coded([*values.tolist(), None], codes.astype(np.int32)),
            "state": of_place.mapped(lambda one: "graded" if one[0] else "unrated"),
            "source": of_place.mapped(lambda one: one[1]),
        }
        return of_rows, lines[line]

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[BookRating]) -> None:
        with tally.rejecting(cells.line, raw=f"{cells.of['docid']}"):
            query_id, text, doc_id = _checked(cells, self._text_keys, tally)
            given = ((name, cells.others[name].strip()) for name in self.raters)
            grades = {name: whole_rating(grade) for name, grade in given if grade}
            fields = {name: cells.others[name] for name in self.documents if cells.others[name]}
            pair = BookRating(
                *(query_id, doc_id, "", None, "unrated"),
                query=text,
                line=cells.line,
                by_text=True,
                document=document_of(doc_id, fields, cells.line) if fields else None,
            )
            rows = [self._rated(pair, name, grade) for name, grade in grades.items()] or [pair]
            # The line is one unit, and each further rating of it is one more.
            tally.read(len(rows) - 1)
            for row in rows:
                answer = row.state if row.grade is None else row.grade
                by_key.add((text, doc_id, row.rater), answer, row, cells.line, f"{doc_id} {row.rater}")

    def _rated(self, pair: BookRating, name: str, grade: int) -> BookRating:
        rater, source = self.raters[name]
        return replace(pair, rater=rater, grade=grade, state="graded", source=source)

    def count(self, rows: Sequence[BookRating], tally: Tally) -> None:
        count_grades(rows, tally)


def _grade_or_fault(text: str) -> int | RowFault | None:
    try:
        return whole_rating(text.strip()) if text.strip() else None
    except RowFault as fault:
        return fault


def _numbers(grades: Coded) -> npt.NDArray[np.int64]:
    return np.array([grade if isinstance(grade, int) else 0 for grade in grades.values], dtype=np.int64)[grades.codes]


def _read_book(content: Content, tally: Tally) -> Sequence[BookRating]:
    rows = rows_in_columns(content, tally, _Book(content, _BOOK, unescaped=False))
    return numbered(rows) if rows else []


def _write_book(rows: Iterable[RatingRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None) -> Written:
    """Write ratings with one column per rater; an empty cell is no rating, and other states are left out."""
    chosen = [row for row in rows if row.grade is not None or row.state == "unrated"]
    ordered = export_order(chosen)
    raters = sorted({row.rater for row in ordered if row.grade is not None and row.source != _ADJUDICATED})
    final = [_FINAL] if any(row.source == _ADJUDICATED for row in ordered) else []
    texts = {row.query_id: query_text(BOOK, row.query_id, row.query, queries) for row in ordered}
    refuse_shared_texts(BOOK, texts.items())
    stream.write(csv_row(["query", "docid", *raters, *final]).encode())
    for (query_id, doc_id), group in groupby(ordered, key=lambda row: (row.query_id, row.doc_id)):
        pair = list(group)
        grades = {_FINAL if row.source == _ADJUDICATED else row.rater: row.grade for row in pair}
        # Quepid writes an empty rating with quotes.
        given = ['""' if (grade := grades.get(name)) is None else f"{grade}.0" for name in (*raters, *final)]
        pair_cells = csv_row([spaced(texts[query_id]), doc_id]).rstrip("\n")
        stream.write((",".join([pair_cells, *given]) + "\n").encode())
    return Written(len(ordered))


def _read_needs(content: Content, tally: Tally) -> Iterator[QueryRow]:
    keys, by_key = TextKeys(tally), Keyed[QueryRow](tally)
    for cells in read_table(content, tally, _NEEDS, unescaped=False):
        with tally.rejecting(cells.line, raw=cells.raw):
            text, need = (_unspaced(cells, name, tally) for name in ("query", "information_need"))
            row = QueryRow(keys.query_id(text, cells.line), text, need, line=cells.line, by_text=True)
            by_key.add(row.query, need, row, cells.line, cells.raw)
    yield from keys.padded(by_key.rows())


def _write_needs(rows: Iterable[QueryRow], stream: BinaryIO) -> Written:
    """Write the needs; Quepid keeps 255 characters of each."""
    listed = sorted(rows, key=lambda row: row.query_id)
    refuse_shared_texts(NEEDS, ((row.query_id, row.query) for row in listed))
    long = sum(len(row.narrative) > 255 for row in listed)
    written = write_csv(
        stream,
        ["query", "information_need"],
        listed,
        lambda row: [spaced(row.query), spaced(row.narrative)],
        "query {0.query!r}",
    )
    return replace(written, notes=(f"{long:,} needs are longer than Quepid's limit of 255 characters",) if long else ())


BASIC_FORMAT = Format(
    name=BASIC,
    title="Quepid basic ratings, CSV",
    tool="Quepid",
    kind="qrels",
    description="Query text, document and rating, as Quepid's cases and Chorus exchange ratings.",
    read=reader(BASIC, "query,docid,rating", _read_basic),
    write=_write_basic,
    example="query,docid,rating\nstar trek,193,0\nstar wars,11,3\nstar wars,1891,2\n",
    by_text=True,
)
QUAERITE_FORMAT = Format(
    name=QUAERITE,
    title="quaerite judgments, CSV",
    tool="quaerite",
    kind="qrels",
    description="Rating, document and query text, as quaerite reads them; other columns are not read.",
    read=reader(QUAERITE, "rating,docid,query", _read_quaerite),
    write=_write_quaerite,
    example="rating,docid,query\n0,70,rambo\n4,7555,rambo\n4,1366,rocky\n",
    options={"columns": "maps columns, such as query=positive"},
    by_text=True,
)
BOOK_FORMAT = Format(
    name=BOOK,
    title="Quepid book ratings, CSV",
    tool="Quepid",
    kind="ratings",
    description=(
        "Query text and document with one column per rater, as Quepid exports books; raters get pseudonyms. Columns "
        "with a title or description become documents, and the column final_rating resolutions."
    ),
    read=reader(BOOK, "query,docid,Rater One,Rater Two", _read_book),
    write=_write_book,
    example='query,docid,r01,r02\nstar trek,193,1.0,""\nstar wars,11,3.0,2.0\n',
    by_text=True,
)
NEEDS_FORMAT = Format(
    name=NEEDS,
    title="Quepid information needs, CSV",
    tool="Quepid",
    kind="queries",
    description="Query text and information need, as Quepid's cases exchange them.",
    read=reader(NEEDS, "query,information_need", _read_needs),
    write=_write_needs,
    example="query,information_need\nstar trek,Films of the series\n",
    by_text=True,
)
