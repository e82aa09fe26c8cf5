"""Reader and writer of ``battles.jsonl``: pairwise comparisons of documents with each model's preference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.json_lines import Element, ids, number, row_reader, text, values_of, write_objects
from assay.formats.writer import Written

NAME = "battles-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "a": "doc-abc", "b": "doc-xyz", "score": 0.6, "model": "a-model", "swapped": false, '
    '"reason": "b names the size that was asked for"}\n'
    '{"query_id": "q001", "a": "doc-abc", "b": "doc-klm", "score": -1.0, "model": "a-model", "swapped": true, '
    '"reason": "only a is a tent"}\n'
)
_IDS = {"query_id": "query", "a": "first document's", "b": "second document's"}


@dataclass(frozen=True, slots=True)
class Battle:
    """A model's answer about two documents."""

    query_id: str
    a: str
    b: str
    score: float | None = None
    model: str = ""
    swapped: bool = False
    reason: str = ""
    line: int = field(default=0, compare=False)


def write(rows: Iterable[Battle], stream: BinaryIO) -> Written:
    """Write battles in the order given."""
    names = ("query_id", "a", "b", "score", "model", "swapped", "reason")
    return write_objects((values_of(row, *names) for row in rows), stream)


def _battle(element: Element, tally: Tally) -> tuple[Battle, bool]:
    (query_id, a, b), numbered = ids(element, tally, _IDS, ("score", "model", "swapped", "reason"))
    if a == b:
        raise RowFault("E23", f"{a!r} is compared with itself", "name two documents")
    swapped = element.of.get("swapped", False)
    if not isinstance(swapped, bool):
        raise RowFault("E23", f"swapped is {swapped!r}, not true or false")
    texts = {name: text(element.of, name) for name in ("model", "reason")}
    return Battle(query_id, a, b, _score(element.of), swapped=swapped, line=element.line, **texts), numbered


def _score(of: Mapping[str, Any]) -> float | None:
    if of.get("score") is None:
        return None
    value = number(of, "score", "write a number from -1 to 1, or null")
    if not -1 <= value <= 1:
        raise RowFault("E14", f"the score {value:g} is outside -1 to 1", "change it to -1 or 1, or write null")
    return value


# A pair may have many battles, from several models and in both orders.
read = row_reader(NAME, '{"query_id": "q001", "a": "doc-abc", "b": "doc-xyz", "score": 0.6}', _battle)

FORMAT = Format(
    name=NAME,
    title="Pairwise comparisons, JSONL",
    kind="battles",
    description="Two documents of a query and a model's preference, from -1 (a) to 1 (b).",
    read=read,
    write=write,
    example=EXAMPLE,
)
