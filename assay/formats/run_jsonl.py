"""Runs as JSONL, one result per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from assay.core.read_report import Tally
from assay.formats.column_names import RESULT_COLUMNS
from assay.formats.format import Format
from assay.formats.json_lines import dump
from assay.formats.json_pair_objects import line_columns, line_entries
from assay.formats.pair_entries import results
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import RunRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, finite_score, ranked_order, refuse_ids, tags_left_out

NAME = "run-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "doc_id": "doc-abc", "rank": 1, "score": 12.5}\n'
    '{"query_id": "q001", "doc_id": "doc-xyz", "rank": 2, "score": 11.25}\n'
)


def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[RunRow]:
    """Read a run and account for every line. Without scores, the score is minus the rank (W49)."""

    def parse(content: Content, tally: Tally) -> Iterator[RunRow]:
        return results(line_entries(content, tally, RESULT_COLUMNS, "score"), tally)

    return collect(*open_as(source, path, NAME, EXAMPLE.partition("\n")[0], encoding=encoding), parse, empty="results")


def write(rows: Iterable[RunRow], stream: BinaryIO) -> Written:
    """Write a run, best document first, ranks from 1."""
    ordered = ranked_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    for query_id, doc_id, rank, given in ordered.values("query_id", "doc_id", "rank", "score"):
        score = finite_score(NAME, given, query_id, doc_id)
        stream.write(dump({"query_id": query_id, "doc_id": doc_id, "rank": rank, "score": score}))
    return Written(len(ordered), tags_left_out(NAME, ordered))


FORMAT = Format(
    name=NAME,
    title="Run, JSONL",
    kind="run",
    extensions=(".jsonl", ".ndjson"),
    description="One result per line as a JSON object, with its score, its rank, or both.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
    quick=partial(line_columns, known=RESULT_COLUMNS, value="score"),
)
