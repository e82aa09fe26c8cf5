"""CSV files that Quepid's pages export for a case: its queries, its detailed ratings, and its snapshots.

A snapshot is a run. These files name columns in words, and double quotation marks even in cells without quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.core.read_report import Tally
from assay.formats.delimited import Cells, Columns, read_table
from assay.formats.format import Format, reader_options
from assay.formats.grade_cells import Keyed, Pick, RowFault, checked_id, count
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import LabelRow, QueryRow, RunRow
from assay.formats.text_columns import TextLabelLayout, numbered_rows
from assay.formats.text_keys import TextKeys
from assay.formats.text_lines import Content

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


def _plain(cells: Cells, column: str, tally: Tally) -> str:
    """Return a cell without the space in front of a formula, and with single quotation marks."""
    text = cells.of.get(column, "")
    if _ESCAPED.match(text):
        tally.once("W37", cells.line, "a space in front of a formula", done="removed", column=column)
        text = text[1:]
    if '""' in text:
        tally.once("W37", cells.line, "doubled quotation marks", done="read as single ones", column=column)
        text = text.replace('""', '"')
    return text


def _read_case(content: Content, tally: Tally) -> Iterator[QueryRow]:
    keys, by_key = TextKeys(tally), Keyed[QueryRow](tally)
    for cells in read_table(content, tally, _CASE, unescaped=False):
        text, need = _plain(cells, _QUERY, tally), _plain(cells, _NEED, tally)
        for name in _UNREAD:
            if cells.of.get(name):
                tally.once("W41", cells.line, f"text in the column {name!r}", done="ignored", column=name)
        try:
            row = QueryRow(keys.query_id(text, cells.line), text, need, line=cells.line, by_text=True)
        except RowFault as fault:
            tally.reject(fault.code, cells.line, str(fault), fix=fault.fix, raw=cells.raw, column=_QUERY)
            continue
        by_key.add(text, need, row, cells.line, cells.raw)
    yield from keys.padded(by_key.rows())


class _Detailed(TextLabelLayout):
    """Layout of detailed ratings, with escaped queries."""

    query_column, document_column = _QUERY, _DOCUMENT
    lone_queries = False

    def query_of(self, cells: Cells, tally: Tally) -> str:
        return _plain(cells, _QUERY, tally)

    def is_plain(self, query: str) -> bool:
        return query[:1] != " " and '"' not in query and super().is_plain(query)


def _read_detailed(
    content: Content, tally: Tally, *, grades: tuple[int, ...] | None = None, conflicts: Pick | None = None
) -> Sequence[LabelRow]:
    layout = _Detailed(content, _DETAILED)
    layout.grades, layout.conflicts = grades, conflicts
    return numbered_rows(content, tally, layout)


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
        try:
            row = _result(cells, name, keys, tally)
        except RowFault as fault:
            tally.reject(fault.code, cells.line, str(fault), fix=fault.fix, raw=cells.raw)
            continue
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


CASE_FORMAT = Format(
    name=CASE,
    title="Quepid case, CSV",
    tool="Quepid",
    kind="queries",
    extensions=(".csv",),
    description="The queries and information needs of a case; its scores and notes are not read.",
    read=reader(CASE, CASE_HEADER, _read_case, empty="queries"),
    write=None,
    example=f"{CASE_HEADER}\nMovies,Films,7,star wars,0.75,2024-05-02,8,Films of the series,,\n",
    options=reader_options("encoding"),
    by_text=True,
)
DETAILED_FORMAT = Format(
    name=DETAILED,
    title="Quepid detailed ratings, CSV",
    tool="Quepid",
    kind="qrels",
    extensions=(".csv",),
    description="The ratings of a case with the position, title and fields of each document, which are not read.",
    read=reader(DETAILED, DETAILED_HEADER, _read_detailed),
    write=None,
    example=f"{DETAILED_HEADER}\nMovies,Films,7,dog,d1,1,Good dog,3\nMovies,Films,7,dog,d2,2,Dog,\n",
    options=reader_options("grades conflicts encoding"),
    by_text=True,
)
SNAPSHOT_FORMAT = Format(
    name=SNAPSHOT,
    title="Quepid snapshot, CSV",
    tool="Quepid",
    kind="run",
    extensions=(".csv",),
    description="The documents of each query in a snapshot of a case, as a run; the score is minus the position.",
    read=reader(SNAPSHOT, SNAPSHOT_HEADER, _read_snapshot, empty="results"),
    write=None,
    example=(
        f"{SNAPSHOT_HEADER}\nBaseline,2026-03-05T12:00:00Z,8,dog,doc-1,1\nBaseline,2026-03-05T12:00:00Z,8,dog,doc-2,2\n"
    ),
    options=reader_options("snapshot encoding", snapshot="the snapshot to read, if the file contains several"),
    by_text=True,
)
