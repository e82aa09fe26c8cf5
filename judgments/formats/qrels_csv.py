"""How do qrels stand in a CSV or TSV file with a header?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import BinaryIO

from judgments.core.cells import csv_row, escape
from judgments.core.report import Tally
from judgments.formats.column_names import LABEL_COLUMNS, SILENT
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source
from judgments.formats.delimited import Columns
from judgments.formats.entries import labels
from judgments.formats.grades import Pick
from judgments.formats.pair_tables import table_columns, table_entries
from judgments.formats.reading import Read, collect, open_as
from judgments.formats.rows import LabelRow
from judgments.formats.writing import Written, export_order, refuse_ids, whole_grade

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
    """Read qrels and account for every record.

    Parameters
    ----------
    source, path, grades, conflicts, encoding
        As for ``qrels-json``.
    columns : dict of str to str, optional
        Which column of the file is which: ``{"doc_id": "sku"}``.
    delimiter : str, optional
        By default what the header shows: ``,``, ``;`` or TAB.

    Raises
    ------
    UnreadableInput
        When the whole file is refused; F04 when a column is missing.
    """

    def parse(content: Content, tally: Tally) -> Iterator[LabelRow]:
        entries = table_entries(content, tally, COLUMNS, "grade", mapping=columns, delimiter=delimiter)
        return labels(entries, tally, grades, conflicts)

    return collect(*open_as(source, path, NAME, "query_id,doc_id,grade", encoding=encoding), parse, empty="judgments")


def write(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels in the order of their ids; a pair without a grade is left out.

    Raises
    ------
    NotValid
        When an id cannot be written, or a grade is no whole number.
    """
    ordered = export_order(row for row in rows if row.grade is not None)
    refuse_ids(NAME, (text for row in ordered for text in (row.query_id, row.doc_id)), spaces=True)
    stream.write(b"query_id,doc_id,grade\n")
    for row in ordered:
        stream.write(csv_row([escape(row.query_id), escape(row.doc_id), whole_grade(row)]).encode())
    return Written(len(ordered))


FORMAT = Format(
    name=NAME,
    title="Qrels, CSV",
    kind="qrels",
    extensions=(".csv", ".tsv"),
    description="One label a record under a header: query_id, doc_id and grade, or what others call them.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "the scale; without it any number is a grade",
        "columns": "which column of the file is which, such as doc_id=sku",
        "delimiter": "comma, semicolon or TAB; by default what the header shows",
        "conflicts": "first, last, min or max: which of two grades for one pair counts",
        "encoding": "latin-1 for old files",
    },
    quick=partial(table_columns, columns=COLUMNS, value="grade"),
)
