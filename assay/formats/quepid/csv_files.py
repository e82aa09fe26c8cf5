"""CSV files of Quepid: basic ratings, ratings by rater, and information needs; and the judgments of quaerite.

Quepid identifies queries by their text. In front of a cell that a spreadsheet might run as a formula it writes a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import BinaryIO

from assay.core.csv_cells import csv_row
from assay.core.read_report import Tally
from assay.formats.delimited import Cells, Columns, read_table
from assay.formats.documents import document_of
from assay.formats.format import Format, reader_options
from assay.formats.grade_cells import Keyed, Pick, RowFault, checked_id
from assay.formats.quepid.book_json import BookRating, pseudonyms
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import LabelRow, QueryRow, RatingRow
from assay.formats.text_columns import TextLabelLayout, numbered_rows, write_text_labels
from assay.formats.text_keys import TextKeys, query_text, refuse_shared_texts, whole_rating
from assay.formats.text_lines import Content
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


class _Spaced(TextLabelLayout):
    """Layout of Quepid's own files, with a space in front of a query that is a formula."""

    def query_of(self, cells: Cells, tally: Tally) -> str:
        return _unspaced(cells, "query", tally)

    def is_plain(self, query: str) -> bool:
        return query[:1] != " " and super().is_plain(query)


def _read_basic(
    content: Content, tally: Tally, *, grades: tuple[int, ...] | None = None, conflicts: Pick | None = None
) -> Sequence[LabelRow]:
    layout = _Spaced(content, _BASIC)
    layout.grades, layout.conflicts = grades, conflicts
    return numbered_rows(content, tally, layout)


def _read_quaerite(
    content: Content,
    tally: Tally,
    *,
    grades: tuple[int, ...] | None = None,
    columns: Mapping[str, str] | None = None,
    conflicts: Pick | None = None,
) -> Sequence[LabelRow]:
    layout = TextLabelLayout(content, _BASIC, mapping=columns)
    layout.grades, layout.conflicts = grades, conflicts
    return numbered_rows(content, tally, layout)


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


def _read_book(content: Content, tally: Tally) -> Iterator[RatingRow]:
    keys, by_key = TextKeys(tally), Keyed[RatingRow](tally)
    names: dict[str, str] = {}
    for cells in read_table(content, tally, _BOOK, unescaped=False):
        given = {name: text.strip() for name, text in cells.others.items() if name.casefold() not in _DOCUMENT}
        names = names or pseudonyms((name for name in given if name.casefold() != _FINAL), _OWN)
        try:
            query_id, text, doc_id = _checked(cells, keys, tally)
            grades = {name: whole_rating(grade) for name, grade in given.items() if grade}
        except RowFault as fault:
            tally.reject(
                fault.code, cells.line, str(fault), fix=fault.fix or tally.expected, raw=f"{cells.of['docid']}"
            )
            continue
        fields = {name: text for name, text in cells.others.items() if name.casefold() in _DOCUMENT and text}
        pair = BookRating(
            *(query_id, doc_id, "", None, "unrated"),
            query=text,
            line=cells.line,
            by_text=True,
            document=document_of(doc_id, fields, cells.line) if fields else None,
        )
        rows = [_rated(pair, names, name, grade) for name, grade in grades.items()] or [pair]
        # The line is one unit, and each further rating of it is one more.
        tally.read(len(rows) - 1)
        for row in rows:
            answer = row.state if row.grade is None else row.grade
            by_key.add((query_id, doc_id, row.rater), answer, row, cells.line, f"{doc_id} {row.rater}")
            if row.grade is not None:
                tally.grade(row.grade)
    yield from keys.padded(by_key.rows())


def _rated(pair: BookRating, names: Mapping[str, str], name: str, grade: int) -> BookRating:
    if name.casefold() == _FINAL:
        return replace(pair, rater="final", grade=grade, state="graded", source=_ADJUDICATED)
    return replace(pair, rater=names[name], grade=grade, state="graded")


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
        try:
            text, need = (_unspaced(cells, name, tally) for name in ("query", "information_need"))
            row = QueryRow(keys.query_id(text, cells.line), text, need, line=cells.line, by_text=True)
        except RowFault as fault:
            tally.reject(fault.code, cells.line, str(fault), fix=fault.fix or tally.expected, raw=cells.raw)
            continue
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
    extensions=(".csv",),
    description="Query text, document and rating, as Quepid's cases and Chorus exchange ratings.",
    read=reader(BASIC, "query,docid,rating", _read_basic),
    write=_write_basic,
    example="query,docid,rating\nstar trek,193,0\nstar wars,11,3\nstar wars,1891,2\n",
    options=reader_options("grades conflicts encoding"),
    by_text=True,
)
QUAERITE_FORMAT = Format(
    name=QUAERITE,
    title="quaerite judgments, CSV",
    tool="quaerite",
    kind="qrels",
    extensions=(".csv",),
    description="Rating, document and query text, as quaerite reads them; other columns are not read.",
    read=reader(QUAERITE, "rating,docid,query", _read_quaerite),
    write=_write_quaerite,
    example="rating,docid,query\n0,70,rambo\n4,7555,rambo\n4,1366,rocky\n",
    options=reader_options("grades columns conflicts encoding", columns="maps columns, such as query=positive"),
    by_text=True,
)
BOOK_FORMAT = Format(
    name=BOOK,
    title="Quepid book ratings, CSV",
    tool="Quepid",
    kind="ratings",
    extensions=(".csv",),
    description=(
        "Query text and document with one column per rater, as Quepid exports books; raters get pseudonyms. Columns "
        "with a title or description become documents, and the column final_rating resolutions."
    ),
    read=reader(BOOK, "query,docid,Rater One,Rater Two", _read_book),
    write=_write_book,
    example='query,docid,r01,r02\nstar trek,193,1.0,""\nstar wars,11,3.0,2.0\n',
    options=reader_options("encoding"),
    by_text=True,
)
NEEDS_FORMAT = Format(
    name=NEEDS,
    title="Quepid information needs, CSV",
    tool="Quepid",
    kind="queries",
    extensions=(".csv",),
    description="Query text and information need, as Quepid's cases exchange them.",
    read=reader(NEEDS, "query,information_need", _read_needs),
    write=_write_needs,
    example="query,information_need\nstar trek,Films of the series\n",
    options=reader_options("encoding"),
    by_text=True,
)
