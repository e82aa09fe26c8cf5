"""Pairs for a machine judge as JSONL, with the texts it needs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.json_lines import Element, ids, row_reader, rows, text, write_objects
from assay.formats.row_types import PairRow
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NAME = "pairs-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "query": "running shoes", "narrative": "", "doc_id": "doc-abc", '
    '"text": "A light shoe for dry paths.", "expected": ""}\n'
)
_TEXTS = ("query", "narrative", "text")
_KNOWN = (*_TEXTS, "expected", "rank")


def write(rows: Iterable[PairRow], stream: BinaryIO) -> Written:
    """Write pairs in the given order, with several expected answers as a list, and the rank if there is one."""
    return write_objects(map(_as_json, rows), stream)


def _as_json(row: PairRow) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in ("query_id", "query", "narrative", "doc_id", "text")},
        "expected": list(row.expected) if len(row.expected) > 1 else "".join(row.expected),
        **({} if row.rank is None else {"rank": row.rank}),
    }


def _pair(element: Element, tally: Tally) -> tuple[PairRow, bool]:
    (query_id, doc_id), numbered = ids(element, tally, {"query_id": "query", "doc_id": "document"}, _KNOWN)
    texts = {name: text(element.of, name) for name in _TEXTS}
    expected, rank = _expected(element.of.get("expected")), _rank(element.of.get("rank"))
    return PairRow(query_id, doc_id, **texts, expected=expected, rank=rank, line=element.line), numbered


def _expected(value: Any) -> tuple[str, ...]:
    """Return the expected answers, one or a list; empty ones are dropped."""
    answers = value if isinstance(value, list) else [] if value is None else [value]
    if wrong := [one for one in answers if not isinstance(one, str)]:
        raise RowFault("E23", f"expected is or contains {value_kind(wrong[0])}; use a text, or a list of texts")
    return tuple(dict.fromkeys(one for one in answers if one.strip()))


def _rank(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise RowFault("E23", f"rank is {value!r}; use a whole number, 1 or more")
    return value


def _key(row: PairRow) -> tuple[tuple[str, str], object]:
    return (row.query_id, row.doc_id), row


# Every row in file order; the caller handles rows that appear twice.
stream = partial(rows, read_row=_pair)

read = row_reader(NAME, '{"query_id": "q001", "query": "...", "doc_id": "doc-abc", "text": "..."}', _pair, _key)

FORMAT = Format(
    name=NAME,
    title="Pairs, JSONL",
    kind="pairs",
    description="Pairs with query, need and text, and one or more expected answers if a judge needs them.",
    read=read,
    write=write,
    example=EXAMPLE,
)
