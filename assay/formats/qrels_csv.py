"""Qrels as CSV or TSV with a header."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import BinaryIO

from assay.core.csv_cells import csv_cell
from assay.formats.column_names import LABEL_COLUMNS, SILENT
from assay.formats.delimited import Columns, check_mapping
from assay.formats.delimited_pairs import table_columns
from assay.formats.format import Format
from assay.formats.grade_cells import Pick
from assay.formats.reader import Read, open_as
from assay.formats.row_types import LabelRow
from assay.formats.text_lines import Source
from assay.formats.writer import Written, graded_order, refuse_ids, whole_grade

NAME = "qrels-csv"
EXAMPLE = "query_id,doc_id,grade\nq001,doc-abc,3\nq001,doc-mno,0\n"
COLUMNS = Columns(LABEL_COLUMNS, ("query_id", "doc_id", "grade"), numeric=frozenset({"grade"}), silent=SILENT)


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[LabelRow]:
    """Read qrels and account for every record."""
    from assay.formats.column_reader import read_in_columns
    from assay.formats.label_layouts import CsvQrels

    check_mapping(columns or {}, COLUMNS)
    content, tally = open_as(source, path, NAME, "query_id,doc_id,grade", encoding=encoding)
    layout = CsvQrels(content, COLUMNS, mapping=columns, delimiter=delimiter)
    return read_in_columns(content, tally, layout.of(grades, conflicts), empty="judgments")


def write(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels in the order of their ids; a pair without a grade is left out."""
    ordered = graded_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    stream.write(b"query_id,doc_id,grade\n")
    for query_id, doc_id, grade in ordered.values("query_id", "doc_id", "grade"):
        digits = whole_grade(grade, query_id, doc_id)
        stream.write(f"{csv_cell(query_id)},{csv_cell(doc_id)},{digits}\n".encode())
    return Written(len(ordered))


FORMAT = Format(
    name=NAME,
    title="Qrels, CSV",
    kind="qrels",
    extensions=(".csv", ".tsv"),
    description="One label per record under a header: query_id, doc_id and grade, or their alternative names.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any number is accepted",
        "columns": "maps columns of the file, such as doc_id=sku",
        "delimiter": "comma, semicolon or TAB; detected from the header by default",
        "conflicts": "first, last, min or max: which of two grades for a pair to use",
        "encoding": "latin-1 for old files",
    },
    quick=partial(table_columns, columns=COLUMNS, value="grade"),
)
