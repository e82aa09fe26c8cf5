"""Pairs for a machine judge as JSONL, with the texts it needs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, BinaryIO

from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.grades import RowFault
from judgments.formats.json_lines import Element
from judgments.formats.json_rows import ids, reader, rows, text, write_objects
from judgments.formats.rows import PairRow
from judgments.formats.writing import Written

NAME = "pairs-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "query": "running shoes", "narrative": "", "doc_id": "doc-abc", '
    '"text": "A light shoe for dry paths.", "expected": ""}\n'
)
_TEXTS = ("query", "narrative", "text")
_KNOWN = (*_TEXTS, "expected", "rank")


def write(rows: Iterable[PairRow], stream: BinaryIO) -> Written:
    """Write pairs in the order given; several expected answers as a list, a rank where there is one.

    Raises
    ------
    NotValid
        When a text cannot be written as UTF-8.
    """
    return write_objects(map(_as_json, rows), stream)


def _as_json(row: PairRow) -> dict[str, Any]:
    return {
        "query_id": row.query_id,
        "query": row.query,
        "narrative": row.narrative,
        "doc_id": row.doc_id,
        "text": row.text,
        "expected": list(row.expected) if len(row.expected) > 1 else "".join(row.expected),
        **({} if row.rank is None else {"rank": row.rank}),
    }


def _pair(element: Element, tally: Tally) -> tuple[PairRow, bool]:
    (query_id, doc_id), numbered = ids(element, tally, {"query_id": "query", "doc_id": "document"}, _KNOWN)
    texts = {name: text(element.of, name) for name in _TEXTS}
    expected, rank = _expected(element.of.get("expected")), _rank(element.of.get("rank"))
    return PairRow(query_id, doc_id, **texts, expected=expected, rank=rank, line=element.line), numbered


def _expected(value: Any) -> tuple[str, ...]:
    """One answer or a list of them; one that says nothing is none."""
    answers = value if isinstance(value, list) else [] if value is None else [value]
    if wrong := [one for one in answers if not isinstance(one, str)]:
        raise RowFault("E23", f"expected is or holds {type(wrong[0]).__name__}; give a text, or a list of texts")
    return tuple(dict.fromkeys(one for one in answers if one.strip()))


def _rank(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise RowFault("E23", f"rank is {value!r}; give a whole number from 1")
    return value


def _key(row: PairRow) -> tuple[tuple[str, str], object]:
    return (row.query_id, row.doc_id), row


# Every row as it comes; whoever reads takes care of rows that come twice.
stream = partial(rows, said=_pair)

read = reader(
    NAME,
    '{"query_id": "q001", "query": "...", "doc_id": "doc-abc", "text": "..."}',
    partial(rows, said=_pair, key=_key),
)

FORMAT = Format(
    name=NAME,
    title="Pairs, JSONL",
    kind="pairs",
    extensions=(".jsonl", ".ndjson"),
    description="Pairs with query, need and text, and the expected answer, or a list of them, where a judge needs it.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
