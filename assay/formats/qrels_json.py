"""Qrels as one JSON object, ``{query: {document: grade}}``, as pytrec_eval and ranx store them.

A list of objects, one per pair, can also be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO

from assay.core.read_report import Tally
from assay.formats.column_names import LABEL_COLUMNS
from assay.formats.format import Format
from assay.formats.grade_cells import Pick
from assay.formats.json_pair_objects import list_entries
from assay.formats.nested_pair_json import nested_columns, nested_entries
from assay.formats.pair_entries import labels
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import LabelRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, graded_order, refuse_ids, whole_grade

NAME = "qrels-json"
EXAMPLE = """{
  "q001": {"doc-abc": 3, "doc-mno": 0},
  "q002": {"doc-xyz": 1}
}
"""


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[LabelRow]:
    """Read qrels and account for every query and pair."""
    content, tally = open_as(source, path, NAME, '{"q001": {"doc-abc": 3}}', encoding=encoding)

    def parse(content: Content, tally: Tally) -> Iterator[LabelRow]:
        if content.head.lstrip().startswith(b"["):
            return labels(list_entries(content, tally, LABEL_COLUMNS, "grade"), tally, grades, conflicts)
        return labels(nested_entries(content, tally), tally, grades, conflicts)

    return collect(content, tally, parse)


def write(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels in the order of their ids, one query per line; a pair without a grade is left out."""
    ordered = graded_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    lines = []
    for query_id, group in groupby(ordered.values("query_id", "doc_id", "grade"), key=itemgetter(0)):
        pairs = ", ".join(
            f"{json.dumps(doc_id, ensure_ascii=False)}: {whole_grade(grade, query_id, doc_id)}"
            for _, doc_id, grade in group
        )
        lines.append(f"  {json.dumps(query_id, ensure_ascii=False)}: {{{pairs}}}")
    stream.write(("{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n").encode())
    return Written(len(ordered))


FORMAT = Format(
    name=NAME,
    title="Qrels, JSON",
    kind="qrels",
    extensions=(".json",),
    description="Each query with the grades of its documents, as pytrec_eval and ranx read them.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any number is accepted",
        "conflicts": "first, last, min or max: which of two grades for a pair to use",
        "encoding": "latin-1 for old files",
    },
    quick=nested_columns,
)
