"""Runs as one JSON object, ``{query: {document: score}}``, as pytrec_eval and ranx store them.

A list of objects, one per result, can also be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO

from assay.core.read_report import Tally
from assay.formats.column_names import RESULT_COLUMNS
from assay.formats.format import Format
from assay.formats.json_pair_objects import list_entries
from assay.formats.nested_pair_json import nested_columns, nested_entries
from assay.formats.pair_entries import results
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import RunRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, finite_score, ranked_order, refuse_ids, tags_left_out

NAME = "run-json"
EXAMPLE = """{
  "q001": {"doc-abc": 12.5, "doc-xyz": 11.25},
  "q002": {"doc-mno": 7.0}
}
"""


def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[RunRow]:
    """Read a run and account for every query and result."""
    content, tally = open_as(source, path, NAME, '{"q001": {"doc-abc": 12.5}}', encoding=encoding)

    def parse(content: Content, tally: Tally) -> Iterator[RunRow]:
        if content.head.lstrip().startswith(b"["):
            return results(list_entries(content, tally, RESULT_COLUMNS, "score"), tally)
        return results(nested_entries(content, tally), tally)

    return collect(content, tally, parse)


def write(rows: Iterable[RunRow], stream: BinaryIO) -> Written:
    """Write a run, one query per line, best document first."""
    ordered = ranked_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    lines = []
    for query_id, group in groupby(ordered.values("query_id", "doc_id", "score"), key=itemgetter(0)):
        pairs = ", ".join(
            f"{json.dumps(doc_id, ensure_ascii=False)}: {finite_score(NAME, score, query_id, doc_id)}"
            for _, doc_id, score in group
        )
        lines.append(f"  {json.dumps(query_id, ensure_ascii=False)}: {{{pairs}}}")
    stream.write(("{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n").encode())
    return Written(len(ordered), tags_left_out(NAME, ordered))


FORMAT = Format(
    name=NAME,
    title="Run, JSON",
    kind="run",
    extensions=(".json",),
    description="Each query with the scores of its documents, as pytrec_eval and ranx read them.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
    quick=nested_columns,
)
