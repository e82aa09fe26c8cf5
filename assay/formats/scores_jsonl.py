"""Document scores from battles as JSONL, with standard errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.json_lines import Element, ids, number, row_reader, values_of, write_objects
from assay.formats.writer import Written

NAME = "scores-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "doc_id": "doc-abc", "score": 1.25, "se": 0.8}\n'
    '{"query_id": "q001", "doc_id": "doc-xyz", "score": -1.25, "se": 0.8}\n'
)
_FIX = "write a number such as 1.25"


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """A score within a query, as natural logarithms with mean 0; ``se`` is its standard error, if known."""

    query_id: str
    doc_id: str
    score: float
    se: float | None = None
    line: int = field(default=0, compare=False)


def write(rows: Iterable[DocumentScore], stream: BinaryIO) -> Written:
    """Write scores in the order given."""
    return write_objects((values_of(row, "query_id", "doc_id", "score", "se") for row in rows), stream)


def _score(element: Element, tally: Tally) -> tuple[DocumentScore, bool]:
    (query_id, doc_id), numbered = ids(element, tally, {"query_id": "query", "doc_id": "document"}, ("score", "se"))
    error = None if element.of.get("se") is None else number(element.of, "se", _FIX)
    if error is not None and error < 0:
        raise RowFault("E12", f"the standard error {error:g} is below 0")
    return DocumentScore(query_id, doc_id, number(element.of, "score", _FIX), error, element.line), numbered


def _key(row: DocumentScore) -> tuple[tuple[str, str], object]:
    return (row.query_id, row.doc_id), (row.score, row.se)


read = row_reader(NAME, EXAMPLE.partition("\n")[0], _score, _key)

FORMAT = Format(
    name=NAME,
    title="Scores from pairwise comparisons, JSONL",
    kind="document-scores",
    description="A score for each document of a query, with its standard error.",
    read=read,
    write=write,
    example=EXAMPLE,
)
