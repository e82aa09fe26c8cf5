"""CSV files that Quepid's pages export for a case: its queries, its detailed ratings, and its snapshots.

A snapshot is a run. These files name columns in words. Versions of Quepid up to 8.6 double quotation marks even in
cells without quotes. Lines are written with LF, which Quepid reads as well as its own CRLF.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO

from assay.core.csv_cells import csv_row, quoted
from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.delimited import Cells, Columns, read_table
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick, checked_id, count
from assay.formats.quepid.csv_files import spaced
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import LabelRow, QueryRow, RunRow
from assay.formats.text_columns import TextLabelLayout, numbered_rows, write_text_labels
from assay.formats.text_keys import TextKeys, ordered_texts, query_text, refuse_shared_texts
from assay.formats.text_lines import Content
from assay.formats.writer import Written, fields_left_out, ranked_order, write_csv, write_lines

CASE, DETAILED, SNAPSHOT = "quepid-case-csv", "quepid-detailed-csv", "quepid-snapshot-csv"
CASE_HEADER = "Team Name,Case Name,Case ID,Query Text,Score,Date Last Scored,Count,Information Need,Notes,Options"
DETAILED_HEADER = "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating"
SNAPSHOT_HEADER = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position"
_QUERY, _NEED, _DOCUMENT, _NAME = "query text", "information need", "doc id", "snapshot name"
_OF_CASE = frozenset({"team name", "case name", "case id"})
# Older versions have no needs.
_UNREAD = ("notes", "options")
_CASE = Columns(
    {_QUERY: (), _NEED: (), **dict.fromkeys(_UNREAD, ())},
    (_QUERY,),
    silent=_OF_CASE | {"score", "date last scored", "count"},
)
# Fields of the documents are further columns, which are reported as unknown.
_DETAILED = Columns(
    {_QUERY: (), _DOCUMENT: (), "rating": ()},
    (_QUERY, _DOCUMENT, "rating"),
    silent=_OF_CASE | {"doc position", "title"},
)
_SNAPSHOT = Columns(
    {_NAME: (), _QUERY: (), _DOCUMENT: (), "doc position": ()},
    (_NAME, _QUERY, _DOCUMENT, "doc position"),
    silent=frozenset({"snapshot time", "case id"}),
)
_ESCAPED = re.compile(" [-=+@]")
_WRAPPED = re.compile(r"[,\r\n]")
# Fields of queries and of labels that Quepid's files have no place for.
NOT_OF_QUERIES = (
    *("group", "tier", "frequency", "clients", "probability", "weight", "stratum", "share", "also", "language"),
)
NOT_OF_LABELS = ("copied_from", "group")


def _plain(cells: Cells, column: str, tally: Tally) -> str:
    """Return a cell without the space in front of a formula, and with single quotation marks."""
    text = cells.of.get(column, "")
    if _ESCAPED.match(text):
        tally.once("W37", cells.line, "a space in front of a formula", done="removed", column=column)
        text = text[1:]
    # In a cell with quotes, the doubled marks are single ones already.
    if '""' in text and not _WRAPPED.search(text) and quoted(text) not in cells.raw:
        tally.once("W37", cells.line, "doubled quotation marks", done="read as single ones", column=column)
        text = text.replace('""', '"')
    return text


def _written(format: str, text: str) -> str:
    """Return a text with a space in front of a formula; one that already has this space is refused."""
    if _ESCAPED.match(text):
        fix = "remove the space at its beginning"
        raise NotValid(f"{format} cannot contain {text!r}, which would be read as {text[1:]!r}; {fix}")
    return spaced(text)


def _read_case(content: Content, tally: Tally) -> Iterator[QueryRow]:
    keys, by_key = TextKeys(tally), Keyed[QueryRow](tally)
    for cells in read_table(content, tally, _CASE, unescaped=False):
        text, need = _plain(cells, _QUERY, tally), _plain(cells, _NEED, tally)
        for name in _UNREAD:
            if cells.of.get(name):
                tally.once("W41", cells.line, f"text in the column {name!r}", done="ignored", column=name)
        with tally.rejecting(cells.line, raw=cells.raw, column=_QUERY):
            row = QueryRow(keys.query_id(text, cells.line), text, need, line=cells.line, by_text=True)
            by_key.add(text, need, row, cells.line, cells.raw)
    yield from keys.padded(by_key.rows())


def _write_case(
    rows: Iterable[QueryRow],
    stream: BinaryIO,
    *,
    team: object = "",
    name: object = "Assay",
    case_id: object = "",
) -> Written:
    """Write queries and needs; the columns of scores and notes stay empty."""
    listed = sorted(rows, key=lambda row: row.query_id)
    refuse_shared_texts(CASE, ((row.query_id, row.query) for row in listed))
    of_case = [_written(CASE, str(value)) for value in (team, name, case_id)]

    def cells(row: QueryRow) -> list[str]:
        texts = query_text(CASE, row.query_id, row.query), row.narrative
        query, need = (_written(CASE, text) for text in texts)
        return [*of_case, query, "", "", "", need, "", ""]

    written = write_csv(stream, CASE_HEADER.split(","), listed, cells, "query {0.query_id!r}")
    return replace(written, notes=fields_left_out(CASE, listed, NOT_OF_QUERIES))


class _Detailed(TextLabelLayout):
    """Layout of detailed ratings, with escaped queries."""

    query_column, document_column = _QUERY, _DOCUMENT
    lone_queries = False

    def query_of(self, cells: Cells, tally: Tally) -> str:
        return _plain(cells, _QUERY, tally)

    def is_plain(self, query: str) -> bool:
        return query[:1] != " " and '"' not in query and super().is_plain(query)


def _read_detailed(
    content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
) -> Sequence[LabelRow]:
    return numbered_rows(content, tally, _Detailed(content, _DETAILED, grades, conflicts))


def _write_detailed(
    rows: Iterable[LabelRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    omit_unrated: bool = True,
    team: object = "",
    name: object = "Assay",
    case_id: object = "",
) -> Written:
    """Write labels; the columns of positions and titles stay empty."""
    listed = rows if isinstance(rows, Sequence) else list(rows)
    of_case = csv_row([_written(DETAILED, str(value)) for value in (team, name, case_id)]).rstrip("\n")
    written = write_text_labels(
        DETAILED,
        DETAILED_HEADER.split(","),
        lambda query, doc_id, grade: f"{of_case},{query},{doc_id},,,{grade}\n",
        listed,
        stream,
        queries,
        query_cell=lambda query: _written(DETAILED, query),
        omit_unrated=omit_unrated,
    )
    return replace(written, notes=fields_left_out(DETAILED, listed, NOT_OF_LABELS))


def _read_snapshot(content: Content, tally: Tally, *, snapshot: str | None = None) -> Iterator[RunRow]:
    keys, by_key = TextKeys(tally), Keyed[RunRow](tally, twice_is_conflict=True)
    names: dict[str, None] = {}
    positions: set[tuple[str, int]] = set()
    for cells in read_table(content, tally, _SNAPSHOT, unescaped=False):
        name = _plain(cells, _NAME, tally)
        names[name] = None
        if snapshot not in (None, name):
            tally.put("comment")
            tally.once("W51", cells.line, f"a row of the snapshot {name!r}", done="skipped", column=_NAME)
            continue
        with tally.rejecting(cells.line, raw=cells.raw):
            row = _result(cells, name, keys, tally)
            place = (row.query, row.rank or 0)
            if place in positions:
                what = f"the position {row.rank} occurs twice for the query {row.query!r}"
                tally.once("W40", cells.line, what, done="sorted by document id")
            positions.add(place)
            by_key.add((row.query, row.doc_id), row.score, row, cells.line, cells.raw)
    shown = ", ".join(map(repr, list(names)[:20]))
    if len(names) > 1 and snapshot is None:
        expected = "name one of them (--snapshot NAME), or split the file"
        tally.refuse(f"contains {len(names)} snapshots: {shown}", expected=expected, code="E23")
    if names and snapshot is not None and snapshot not in names:
        tally.refuse(f"contains no snapshot named {snapshot!r}", expected=f"name one of {shown}", code="E23")
    yield from keys.padded(by_key.rows())


def _result(cells: Cells, tag: str, keys: TextKeys, tally: Tally) -> RunRow:
    """Return a document of a snapshot; its score is minus its position."""
    text, doc_id = _plain(cells, _QUERY, tally), checked_id(cells.of[_DOCUMENT])
    query_id = keys.query_id(text, cells.line)
    position = count(cells.of["doc position"], "position", least=1)
    if position is None:
        raise RowFault("E12", "the position is empty", "expected a number such as 1")
    note_unusual(tally, cells.line, doc_id)
    return RunRow(query_id, doc_id, float(-position), position, tag, cells.line, text, True)


def _write_snapshot(
    rows: Iterable[RunRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    tag: object = "",
    time: object = "",
    case_id: object = "",
) -> Written:
    """Write a run as one snapshot, named by the tag; the scores are lost."""
    ordered = ranked_order(rows)
    tags = sorted({own for own, _ in ordered.values("tag", "doc_id") if own})
    if len(tags) > 1 and not tag:
        shown = ", ".join(map(repr, tags[:3])) + (f" and {len(tags) - 3} more" if tags[3:] else "")
        raise NotValid(f"{SNAPSHOT} contains one snapshot, but the run has several tags: {shown}; name it (--tag NAME)")
    name = str(tag) or next(iter(tags), "Assay")
    texts = ordered_texts(SNAPSHOT, ordered, queries)
    cells = {query_id: quoted(_written(SNAPSHOT, text)) for query_id, text in texts.items()}
    of_snapshot = csv_row([_written(SNAPSHOT, str(value)) for value in (name, time, case_id)]).rstrip("\n")
    stream.write(csv_row(SNAPSHOT_HEADER.split(",")).encode())
    values = ordered.values("query_id", "doc_id", "rank")
    try:
        write_lines(
            stream, (f"{of_snapshot},{cells[query_id]},{quoted(doc_id)},{rank}\n" for query_id, doc_id, rank in values)
        )
    except UnicodeEncodeError as error:
        raise NotValid(f"{SNAPSHOT}: an id or a query cannot be written as UTF-8: {error}") from error
    lost = any(score != -rank for score, rank in ordered.values("score", "rank"))
    return Written(len(ordered), (f"{SNAPSHOT} cannot store scores; only the positions are written",) if lost else ())


CASE_FORMAT = Format(
    name=CASE,
    title="Quepid case, CSV",
    tool="Quepid",
    kind="queries",
    description="The queries and information needs of a case; its scores and notes are neither read nor written.",
    read=reader(CASE, CASE_HEADER, _read_case, empty="queries"),
    write=_write_case,
    example=f"{CASE_HEADER}\n,Assay,,star wars,,,,Films of the series,,\n",
    by_text=True,
)
DETAILED_FORMAT = Format(
    name=DETAILED,
    title="Quepid detailed ratings, CSV",
    tool="Quepid",
    kind="qrels",
    description=(
        "The ratings of a case with the position, title and fields of each document, which are neither read nor "
        "written."
    ),
    read=reader(DETAILED, DETAILED_HEADER, _read_detailed),
    write=_write_detailed,
    example=f"{DETAILED_HEADER}\n,Assay,,dog,d1,,,3\n,Assay,,dog,d2,,,0\n",
    by_text=True,
)
SNAPSHOT_FORMAT = Format(
    name=SNAPSHOT,
    title="Quepid snapshot, CSV",
    tool="Quepid",
    kind="run",
    description=(
        "The documents of each query in a snapshot of a case, as a run; the score is minus the position. Quepid's list "
        "of cases imports it with the number of a case: `--set case_id=8`."
    ),
    read=reader(SNAPSHOT, SNAPSHOT_HEADER, _read_snapshot, empty="results"),
    write=_write_snapshot,
    example=f"{SNAPSHOT_HEADER}\nBaseline,,,dog,doc-1,1\nBaseline,,,dog,doc-2,2\n",
    options={"snapshot": "the snapshot to read, if the file contains several"},
    by_text=True,
)
