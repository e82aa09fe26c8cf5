"""Qrels as JSONL, one pair per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from assay.core.read_report import Tally
from assay.formats.column_names import LABEL_COLUMNS
from assay.formats.format import Format
from assay.formats.grade_cells import Pick
from assay.formats.json_lines import dump
from assay.formats.json_pair_objects import line_columns, line_entries
from assay.formats.pair_entries import labels
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import LabelRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, graded_order, refuse_ids, whole_grade

NAME = "qrels-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "doc_id": "doc-abc", "grade": 3}\n{"query_id": "q001", "doc_id": "doc-mno", "grade": 0}\n'
)


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[LabelRow]:
    """Read qrels and account for every line."""

    def parse(content: Content, tally: Tally) -> Iterator[LabelRow]:
        return labels(line_entries(content, tally, LABEL_COLUMNS, "grade"), tally, grades, conflicts)

    return collect(
        *open_as(source, path, NAME, EXAMPLE.partition("\n")[0], encoding=encoding), parse, empty="judgments"
    )


def write(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels in the order of their ids; a pair without a grade is left out."""
    ordered = graded_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    for query_id, doc_id, grade in ordered.values("query_id", "doc_id", "grade"):
        whole = int(whole_grade(grade, query_id, doc_id))
        stream.write(dump({"query_id": query_id, "doc_id": doc_id, "grade": whole}))
    return Written(len(ordered))


FORMAT = Format(
    name=NAME,
    title="Qrels, JSONL",
    kind="qrels",
    extensions=(".jsonl", ".ndjson"),
    description="One label per line as a JSON object.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any number is accepted",
        "conflicts": "first, last, min or max: which of two grades for a pair to use",
        "encoding": "latin-1 for old files",
    },
    quick=partial(line_columns, known=LABEL_COLUMNS, value="grade"),
)
