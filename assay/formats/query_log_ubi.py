"""Query logs in the User Behavior Insights format of OpenSearch and related systems.

The file has one JSON object per line, with or without the action lines of a bulk request. Only queries are
searches; events (clicks, impressions) are counted and skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import Tally
from assay.formats.format import Format
from assay.formats.json_lines import Element, HasLines, dump, objects
from assay.formats.jsonl_log_columns import ObjectLog
from assay.formats.log_blocks import LogBlock, LogTexts, careful_blocks
from assay.formats.log_chunks import PlainLines
from assay.formats.log_rows import LogBooks
from assay.formats.reader import reader
from assay.formats.row_types import LogRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

if TYPE_CHECKING:
    import polars

NAME = "query-log-ubi"
EXAMPLE = (
    '{"query_id": "1", "client_id": "c17", "timestamp": "2026-03-02T09:14:07Z", "user_query": "rain jacket"}\n'
    '{"query_id": "2", "client_id": "c04", "timestamp": "2026-03-02T09:15:40Z", "user_query": "running shoes"}\n'
)
ACTIONS = ({"index"}, {"create"})
_ACTION = re.compile(rb'^\s*\{\s*"(?:[^"]*\\[^"]*|index|create)"', re.MULTILINE)
NAMES = {"query": ("user_query",), "timestamp": ("timestamp",), "client_id": ("client_id",)}
Rows = Iterator[LogRow]


def parse_log(content: HasLines, tally: Tally, books: LogBooks | None = None, action: Action | None = None) -> Rows:
    """Yield the searches of a file, or of a part of a file if the counters are given."""
    action = action or Action()
    books = books or LogBooks(tally, None)
    for element in objects(content, tally):
        if set(element.of) in ACTIONS:
            action.index = named_index(element, tally)
            continue
        if "event" in action.index if action.index else "action_name" in element.of:
            tally.put("comment")
            tally.once("W51", element.line, "an event that is not a search", done="skipped")
        elif fault := _fault(element.of):
            tally.reject("E23", element.line, fault, fix=tally.expected, raw=element.raw)
        else:
            yield from _taken(books, element)
        action.index = ""


def named_index(element: Element, tally: Tally) -> str:
    """Count an action line, and return the index that it names for the next line; empty for none."""
    tally.put("header")
    (metadata,) = element.of.values()
    return str(metadata.get("_index", "")) if isinstance(metadata, Mapping) else ""


@dataclass
class Action:
    """The index that an action line named for the next line; empty for none."""

    index: str = ""


def _taken(books: LogBooks, element: Element) -> Iterator[LogRow]:
    of = element.of
    texts = {name: str(of.get(name) or "") for name in ("client_id", "timestamp")}
    return books.take({"query": of["user_query"], **texts}, line=element.line, raw=element.raw)


def _fault(of: Mapping[str, Any]) -> str | None:
    """Return the fault of a query line, or None."""
    text, time = of.get("user_query"), of.get("timestamp")
    if not isinstance(text, str):
        return "no user_query; 'query' is the request to the engine, not the typed text"
    if isinstance(of.get("client_id"), dict | list | bool):
        return f"client_id is {value_kind(of['client_id'])}"
    return f"timestamp is {value_kind(time)}" if isinstance(time, dict | list | bool) else None


def blocks(content: Content, tally: Tally, texts: LogTexts) -> Iterator[LogBlock]:
    """Yield the searches of a file as columns."""
    if _ACTION.search(content.head):
        # The kind of a line depends on the previous line.
        yield from careful_blocks(parse_log(content, tally), texts)
    else:
        yield from _QueriesOnly(content, tally).blocks(texts)


class _QueriesOnly(ObjectLog):
    """A file that begins without action lines; around later action lines the careful reader is used."""

    def __init__(self, content: Content, tally: Tally) -> None:
        self.action = Action()
        super().__init__(content, tally, NAMES, partial(parse_log, action=self.action), without=("action_name",))

    @property
    def waiting(self) -> bool:
        return bool(self.action.index)

    def look(self, data: bytes) -> PlainLines | None:
        return None if _ACTION.search(data) else super().look(data)

    def is_odd(self, lines: polars.Series, matches: polars.DataFrame) -> polars.Series:
        odd = super().is_odd(lines, matches)
        if "client_id_number" in matches.columns:
            odd |= matches["client_id_number"].is_not_null()
        return odd


def write(rows: Iterable[LogRow], stream: BinaryIO) -> Written:
    """Write searches as queries without action lines."""
    number = 0
    for number, row in enumerate(rows, 1):
        if row.count != 1:
            raise NotValid(f"{row.query!r} has a count of {row.count}; this format has one line for each search")
        rest = {"client_id": row.client_id, "timestamp": row.timestamp}
        query = {"query_id": str(number), **{key: text for key, text in rest.items() if text}}
        stream.write(dump({**query, "user_query": row.query}))
    return Written(number)


FORMAT = Format(
    name=NAME,
    title="Query log, UBI",
    tool="UBI",
    kind="query-log",
    extensions=(".ndjson", ".jsonl"),
    description="User Behavior Insights queries, one per line, with or without bulk action lines and events.",
    read=reader(NAME, EXAMPLE.partition("\n")[0], parse_log, empty="searches"),
    write=write,
    example=EXAMPLE,
    blocks=blocks,
    stream=parse_log,
)
