"""Runs as Parquet, with ranx's columns or other names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import BinaryIO

from assay.core.read_report import Tally
from assay.formats.column_names import RESULT_COLUMNS
from assay.formats.format import Format
from assay.formats.pair_entries import results
from assay.formats.parquet import parquet_columns, parquet_entries, write_table
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import RunRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, ranked_order, refuse_ids, tags_left_out

NAME = "run-parquet"
EXAMPLE = "q_id,doc_id,score\nq001,doc-abc,12.5\nq001,doc-xyz,11.25\n"


def read(source: Source, *, path: str = "-", columns: Mapping[str, str] | None = None) -> Read[RunRow]:
    """Read a run and account for every row; row numbers replace line numbers."""

    def parse(content: Content, tally: Tally) -> Iterator[RunRow]:
        return results(parquet_entries(content, tally, RESULT_COLUMNS, "score", columns), tally)

    return collect(*open_as(source, path, NAME, "the columns q_id, doc_id and score"), parse, empty="results")


def write(rows: Iterable[RunRow], stream: BinaryIO) -> Written:
    """Write a run under ranx's names, best document first."""
    ordered = ranked_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    values = list(ordered.values("query_id", "doc_id", "score"))
    ids = {"q_id": [query_id for query_id, _, _ in values], "doc_id": [doc_id for _, doc_id, _ in values]}
    write_table(ids, [float(score) for _, _, score in values], stream, whole=False)
    return Written(len(ordered), tags_left_out(NAME, ordered))


FORMAT = Format(
    name=NAME,
    title="Run, Parquet",
    kind="run",
    extensions=(".parquet",),
    description="One result per row, with named columns, shown here as CSV; written in the layout of ranx.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"columns": "maps columns of the file, such as doc_id=sku"},
    binary=True,
    quick=partial(parquet_columns, known=RESULT_COLUMNS, value="score"),
)
