"""How do searches stand in a file of User Behavior Insights, as OpenSearch and its kin record them?

One JSON object a line, with or without the action lines of a bulk request. Only queries are searches; events (clicks,
impressions) are counted and passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO

from judgments.core.errors import NotValid
from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source
from judgments.formats.json_lines import Element, dump, objects
from judgments.formats.log_blocks import LogBlock, LogTexts, careful_blocks
from judgments.formats.log_books import LogBooks
from judgments.formats.reading import Read, collect, open_as
from judgments.formats.rows import LogRow
from judgments.formats.writing import Written

NAME = "query-log-ubi"
EXAMPLE = (
    '{"query_id": "1", "client_id": "c17", "timestamp": "2026-03-02T09:14:07Z", "user_query": "rain jacket"}\n'
    '{"query_id": "2", "client_id": "c04", "timestamp": "2026-03-02T09:15:40Z", "user_query": "running shoes"}\n'
)
ACTIONS = ({"index"}, {"create"})


def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[LogRow]:
    """Read the searches of a file of queries and events, and account for every line.

    Parameters
    ----------
    source, path, encoding
        As for ``query-log-csv``.

    Raises
    ------
    UnreadableInput
        When the whole file is refused.

    Notes
    -----
    What was typed is ``user_query``; ``query`` is what the engine was sent and never stands in for it. A line is an
    event when the action line before it says so (an index whose name has "event" in it), else when it has an
    ``action_name``.
    """
    content, tally = open_as(source, path, NAME, EXAMPLE.splitlines()[0], encoding=encoding)
    return collect(content, tally, parse_log, empty="searches")


def parse_log(content: Content, tally: Tally) -> Iterator[LogRow]:
    """Yield the searches of a file as they are read."""
    books = LogBooks(tally, None)
    index = ""
    for element in objects(content, tally):
        if set(element.of) in ACTIONS:
            (action,) = element.of.values()
            index = str(action.get("_index", "")) if isinstance(action, Mapping) else ""
            tally.put("header")
            continue
        if "event" in index if index else "action_name" in element.of:
            tally.put("comment")
            tally.once("W51", element.line, "an event, which is no search", done="passed over")
        elif fault := _fault(element.of):
            tally.reject("E23", element.line, fault, fix=tally.expected, raw=element.raw)
        else:
            yield from _taken(books, element)
        index = ""


def _taken(books: LogBooks, element: Element) -> Iterator[LogRow]:
    of = element.of
    client, time = (str(of.get(key) or "") for key in ("client_id", "timestamp"))
    return books.take(of["user_query"], None, time, client, "", line=element.line, raw=element.raw)


def _fault(of: Mapping[str, Any]) -> str | None:
    """What is wrong with a query's line, or None."""
    text, time = of.get("user_query"), of.get("timestamp")
    if not isinstance(text, str):
        return "no user_query; 'query' is what the engine was sent, not what was typed"
    if isinstance(of.get("client_id"), dict | list | bool):
        return f"client_id is {type(of['client_id']).__name__}"
    if time is None or time == "":
        return None
    try:
        zone = isinstance(time, str) and datetime.fromisoformat(time).tzinfo
    except ValueError:
        zone = None
    return None if zone else f"the timestamp {time!r} is no ISO 8601 time with a zone"


def blocks(content: Content, tally: Tally, texts: LogTexts) -> Iterator[LogBlock]:
    """Yield the searches of a file as columns."""
    yield from careful_blocks(parse_log(content, tally), texts)


def rows_on(content: Content, tally: Tally, *, lines: set[int]) -> Iterator[LogRow]:
    """Yield the rows on the given lines, and others."""
    yield from parse_log(content, tally)


def write(rows: Iterable[LogRow], stream: BinaryIO) -> Written:
    """Write searches as queries without action lines.

    Raises
    ------
    NotValid
        For a counted row, or a text that cannot be written as UTF-8.
    """
    number = 0
    for number, row in enumerate(rows, 1):
        if row.count != 1:
            raise NotValid(f"{row.query!r} is counted {row.count} times; this format has one line for each search")
        rest = {"client_id": row.client_id, "timestamp": row.timestamp}
        query = {"query_id": str(number), **{key: text for key, text in rest.items() if text}}
        stream.write(dump({**query, "user_query": row.query}))
    return Written(number)


FORMAT = Format(
    name=NAME,
    title="Query log, UBI",
    kind="query-log",
    extensions=(".ndjson", ".jsonl"),
    description="Queries of User Behavior Insights, one a line, with or without bulk action lines and events.",
    read=read,
    write=write,
    example=EXAMPLE,
    blocks=blocks,
    rows=rows_on,
    stream=parse_log,
    options={"encoding": "latin-1 for old files"},
)
