"""Pairs from any CSV file with query and document ids; other columns are not read.

The file may be a pool, a ratings file or a list from a spreadsheet. Each pair counts once, in the order of the
file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from assay.core.csv_cells import escape
from assay.core.read_report import Tally
from assay.core.text_rules import id_fault
from assay.formats.column_names import ColumnMap
from assay.formats.delimited import Columns, read_table
from assay.formats.format import Format
from assay.formats.queries import query_id_fault
from assay.formats.ratings_csv import COLUMNS as RATING_COLUMNS
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import PairRow
from assay.formats.text_lines import Content
from assay.formats.writer import Written, write_csv

NAME = "pairs-csv"
EXAMPLE = "query_id,doc_id\nq001,doc-xyz\nq001,doc-abc\n"
_OF_RATINGS = frozenset(name for column, others in RATING_COLUMNS.known.items() for name in (column, *others))
_OF_POOLS = frozenset({"rank", "runs", "why", "step", "strategy"})
COLUMNS = Columns(
    {"query_id": ("qid",), "doc_id": ("docno", "docid")}, ("query_id", "doc_id"), silent=_OF_RATINGS | _OF_POOLS
)


def write(rows: Iterable[PairRow], stream: BinaryIO) -> Written:
    """Write pairs in the order given, which is the order of judging."""
    return write_csv(
        stream,
        ["query_id", "doc_id"],
        rows,
        lambda row: [escape(row.query_id), escape(row.doc_id)],
        "document id {0.doc_id!r}",
    )


def _parse(
    content: Content, tally: Tally, *, columns: ColumnMap = None, delimiter: str | None = None
) -> Iterator[PairRow]:
    seen: set[tuple[str, str]] = set()
    for cells in read_table(content, tally, COLUMNS, mapping=columns, delimiter=delimiter):
        query_id, doc_id = cells.of["query_id"], cells.of["doc_id"]
        fault = query_id_fault(query_id)
        wrong = id_fault(doc_id)
        if fault:
            tally.reject(fault.code, cells.line, fault.what, fix=fault.fix, raw=cells.raw, column="query_id")
        elif wrong:
            what = f"the document id {wrong[1]}"
            tally.reject(wrong[0], cells.line, what, fix="correct the id", raw=cells.raw, column="doc_id")
        elif (query_id, doc_id) in seen:
            tally.put("duplicate")
            tally.once("W33", cells.line, "a repeated pair", done="counted once")
        else:
            note_unusual(tally, cells.line, query_id, doc_id)
            seen.add((query_id, doc_id))
            tally.accept(cells.repaired)
            yield PairRow(query_id, doc_id, line=cells.line)


FORMAT = Format(
    name=NAME,
    title="Pairs, CSV",
    kind="pairs",
    description="The pairs to judge; any file with query_id and doc_id works.",
    read=reader(NAME, "query_id,doc_id", _parse),
    write=write,
    example=EXAMPLE,
)
