"""Pairs of a query and a document with a score, for models that learn to predict it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

from assay.core.read_report import Tally
from assay.formats.format import Format
from assay.formats.json_lines import Element, note_unknown, number, row_reader, write_objects
from assay.formats.queries import checked_query
from assay.formats.row_types import GradedPairRow
from assay.formats.training.triplets import checked_ids, checked_text
from assay.formats.writer import Written

NAME = "graded-pairs-jsonl"
EXAMPLE = (
    '{"query": "running shoes", "document": "A light shoe for dry paths.", "score": 3, "query_id": "q001", '
    '"doc_id": "doc-abc"}\n'
    '{"query": "running shoes", "document": "A bag for shoes.", "score": 0.5, "query_id": "q001", '
    '"doc_id": "doc-xyz"}\n'
)
_KEYS = {"query", "document", "score", "query_id", "doc_id", "sentence1", "sentence2"}


def write(rows: Iterable[GradedPairRow], stream: BinaryIO, *, ids: bool = True) -> Written:
    """Write pairs in the given order; ``ids`` is False for files of only the texts and the score."""
    return write_objects((_as_json(row, ids) for row in rows), stream)


def _as_json(row: GradedPairRow, ids: bool) -> dict[str, Any]:
    score = int(row.score) if row.score == int(row.score) else row.score
    of = {"query": row.query, "document": row.document, "score": score}
    return of | ({"query_id": row.query_id, "doc_id": row.doc_id} if ids else {})


def _pair(element: Element, tally: Tally) -> tuple[GradedPairRow, bool]:
    of = element.of
    query = checked_query(of.get("query", of.get("sentence1")))
    document = checked_text(of.get("document", of.get("sentence2")), "document")
    score = number(of, "score", "write a number")
    given = [of.get("query_id"), of.get("doc_id")]
    (query_id, doc_id), numbered = checked_ids(given, [query, document], element.line, tally)
    note_unknown(of, _KEYS, element.line, tally)
    return GradedPairRow(query_id, query, doc_id, document, score, element.line), numbered


def _key(row: GradedPairRow) -> tuple[tuple[str, str], object]:
    return (row.query_id, row.doc_id), row.score


FORMAT = Format(
    name=NAME,
    title="Graded training pairs, JSONL",
    tool="sentence-transformers",
    kind="graded-pairs",
    description=(
        "A query, a document and a score per line, as sentence-transformers trains on pairs with a similarity score "
        "(sbert.net, dataset overview); sentence1 and sentence2 are also read. --set ids=false writes only the texts."
    ),
    read=row_reader(NAME, EXAMPLE.partition("\n")[0], _pair, _key),
    write=write,
    example=EXAMPLE,
)
