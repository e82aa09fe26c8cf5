"""Qrels as Parquet, with ranx's columns or other names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import BinaryIO

from assay.core.read_report import Tally
from assay.formats.column_names import LABEL_COLUMNS
from assay.formats.format import Format
from assay.formats.grade_cells import Pick
from assay.formats.pair_entries import labels
from assay.formats.parquet import parquet_columns, parquet_entries, write_table
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import LabelRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, graded_order, refuse_ids, whole_grade

NAME = "qrels-parquet"
EXAMPLE = "q_id,doc_id,score\nq001,doc-abc,3\nq001,doc-mno,0\n"


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    columns: Mapping[str, str] | None = None,
    conflicts: Pick | None = None,
) -> Read[LabelRow]:
    """Read qrels and account for every row; row numbers replace line numbers."""

    def parse(content: Content, tally: Tally) -> Iterator[LabelRow]:
        return labels(parquet_entries(content, tally, LABEL_COLUMNS, "grade", columns), tally, grades, conflicts)

    return collect(*open_as(source, path, NAME, "the columns q_id, doc_id and score"), parse, empty="judgments")


def write(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels in the order of their ids under ranx's names; a pair without a grade is left out."""
    ordered = graded_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    values = list(ordered.values("query_id", "doc_id", "grade"))
    ids = {"q_id": [query_id for query_id, _, _ in values], "doc_id": [doc_id for _, doc_id, _ in values]}
    grades = [int(whole_grade(grade, query_id, doc_id)) for query_id, doc_id, grade in values]
    write_table(ids, grades, stream, whole=True)
    return Written(len(ordered))


FORMAT = Format(
    name=NAME,
    title="Qrels, Parquet",
    kind="qrels",
    extensions=(".parquet",),
    description="One label per row, with named columns, shown here as CSV; written in the layout of ranx.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any number is accepted",
        "columns": "maps columns of the file, such as doc_id=sku",
        "conflicts": "first, last, min or max: which of two grades for a pair to use",
    },
    binary=True,
    quick=partial(parquet_columns, known=LABEL_COLUMNS, value="grade"),
)
