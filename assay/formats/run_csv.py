"""Runs as CSV or TSV with a header."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import BinaryIO

from assay.core.csv_cells import csv_cell
from assay.formats.column_names import RESULT_COLUMNS, SILENT
from assay.formats.delimited import Columns, check_mapping
from assay.formats.delimited_pairs import table_columns
from assay.formats.format import Format
from assay.formats.reader import Read, open_as
from assay.formats.row_types import RunRow
from assay.formats.text_lines import Source
from assay.formats.writer import Written, ranked_order, refuse_ids, tags_left_out

NAME = "run-csv"
EXAMPLE = "query_id,doc_id,rank,score\nq001,doc-abc,1,12.5\nq001,doc-xyz,2,11.25\n"
COLUMNS = Columns(RESULT_COLUMNS, ("query_id", "doc_id"), numeric=frozenset({"score", "rank"}), silent=SILENT)


def read(
    source: Source,
    *,
    path: str = "-",
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Read[RunRow]:
    """Read a run and account for every record. Without scores, the score is minus the rank (W49)."""
    from assay.formats.column_reader import read_in_columns
    from assay.formats.run_layouts import CsvRun

    check_mapping(columns or {}, COLUMNS)
    content, tally = open_as(source, path, NAME, "query_id,doc_id,score", encoding=encoding)
    layout = CsvRun(content, COLUMNS, mapping=columns, delimiter=delimiter)
    return read_in_columns(content, tally, layout, empty="results")


def write(rows: Iterable[RunRow], stream: BinaryIO) -> Written:
    """Write a run, best document first, ranks from 1."""
    ordered = ranked_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    stream.write(b"query_id,doc_id,rank,score\n")
    for query_id, doc_id, rank, score in ordered.values("query_id", "doc_id", "rank", "score"):
        stream.write(f"{csv_cell(query_id)},{csv_cell(doc_id)},{rank},{float(score)!r}\n".encode())
    return Written(len(ordered), tags_left_out(NAME, ordered))


FORMAT = Format(
    name=NAME,
    title="Run, CSV",
    kind="run",
    extensions=(".csv", ".tsv"),
    description="One result per record under a header: query_id, doc_id, and score, rank or both.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "columns": "maps columns of the file, such as doc_id=sku",
        "delimiter": "comma, semicolon or TAB; detected from the header by default",
        "encoding": "latin-1 for old files",
    },
    quick=partial(table_columns, columns=COLUMNS, value="score"),
)
