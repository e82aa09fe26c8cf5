"""Click logs in the User Behavior Insights format of OpenSearch and related systems.

The file has one JSON object per line, with or without the action lines of a bulk request. Events record which
results were shown and clicked; queries record the typed text and its client, and often the results returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.click_logs import position_of, without_query
from assay.formats.column_names import ColumnMap
from assay.formats.format import Format
from assay.formats.grade_cells import checked_id
from assay.formats.json_lines import Element, dump, id_text, objects
from assay.formats.queries import checked_query
from assay.formats.query_log_ubi import ACTIONS, named_index
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import ClickRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NAME = "click-log-ubi"
EXAMPLE = (
    '{"action_name": "impression", "query_id": "1", "client_id": "c17", "user_query": "rain jacket", '
    '"event_attributes": {"object": {"object_id": "doc-abc"}, "position": {"ordinal": 1}}}\n'
    '{"action_name": "click", "query_id": "1", "client_id": "c17", "user_query": "rain jacket", '
    '"event_attributes": {"object": {"object_id": "doc-abc"}, "position": {"ordinal": 1}}}\n'
    '{"query_id": "2", "client_id": "c04", "user_query": "tent", "query_response_hit_ids": ["doc-xyz", "doc-mno"]}\n'
)
CLICK, IMPRESSION = "click", "impression"
# The names in the field; free text in the standard.
KNOWN = {CLICK: (CLICK, "item_click", "product_click"), IMPRESSION: (IMPRESSION,)}


def stream(content: Content, tally: Tally, *, columns: ColumnMap = None) -> Iterator[ClickRow]:
    """Yield the rows of a log as they are read; options as for `read`."""
    meant = _actions(columns or {})
    index = ""
    for element in objects(content, tally):
        if set(element.of) in ACTIONS:
            index = named_index(element, tally)
            continue
        is_event = "event" in index if index else "action_name" in element.of
        index = ""
        action = element.of.get("action_name")
        if is_event and not isinstance(action, str):
            what = "action_name is not text"
            tally.reject("E23", element.line, what, fix=tally.expected, raw=element.raw, column="action_name")
        elif is_event and action not in meant:
            tally.put("comment")
            tally.once("W51", element.line, "an event that is neither click nor impression", done="skipped")
        else:
            yield from _taken(element, meant, tally, is_event)


def write(rows: Iterable[ClickRow], stream: BinaryIO) -> Written:
    """Write events, and searches with their results, without action lines."""
    listed = list(rows)
    for row in listed:
        who = {"query_id": row.search_id, "client_id": row.client_id, "user_query": row.query}
        client = {name: text for name, text in who.items() if text}
        if not row.doc_id:
            stream.write(dump({**client, "query_response_hit_ids": list(row.results)}))
            continue
        if row.impressions + row.clicks != 1:
            raise NotValid("a row of counts is not a single event; use click-log-csv")
        position = {} if row.position is None else {"position": {"ordinal": row.position}}
        attributes = {"object": {"object_id": row.doc_id}, **position}
        action = CLICK if row.clicks else IMPRESSION
        stream.write(dump({"action_name": action, **client, "event_attributes": attributes}))
    return Written(len(listed))


def _actions(columns: Mapping[str, str]) -> dict[object, str]:
    if strange := next((name for name in columns if name not in KNOWN), None):
        raise NotValid(f"unknown action {strange!r}; map {CLICK} or {IMPRESSION} (columns: click=NAME)", "columns")
    return {name: what for what, names in KNOWN.items() for name in ((columns[what],) if what in columns else names)}


def _taken(element: Element, meant: Mapping[object, str], tally: Tally, is_event: bool) -> Iterator[ClickRow]:
    with tally.rejecting(element.line, raw=element.raw):
        row = _event(element, meant[element.of["action_name"]]) if is_event else _search(element)
        if not row.query.strip() and not (row.search_id and is_event):
            without_query(tally, element.line)
            return
        note_unusual(tally, element.line, row.doc_id)
        tally.put("accepted")
        yield row


def _event(element: Element, what: str) -> ClickRow:
    attributes = _part(element.of, "event_attributes")
    target, place = _part(attributes, "object"), _part(attributes, "position")
    if "object_id" not in target:
        raise RowFault("E23", "the event has no document id (event_attributes.object.object_id)")
    doc_id = checked_id(id_text(target["object_id"])[0])
    ordinal = place.get("ordinal")
    return ClickRow(
        _typed(element.of),
        doc_id,
        position_of("" if ordinal is None else str(ordinal)),
        int(what == IMPRESSION),
        int(what == CLICK),
        client_id=_word(element.of, "client_id"),
        search_id=_word(element.of, "query_id"),
        line=element.line,
    )


def _search(element: Element) -> ClickRow:
    if not isinstance(element.of.get("user_query"), str):
        raise RowFault("E23", "no user_query; 'query' is the request to the engine, not the typed text")
    hits = element.of.get("query_response_hit_ids") or []
    if not isinstance(hits, list):
        raise RowFault("E23", "query_response_hit_ids is not a list")
    results = tuple(checked_id(id_text(hit)[0]) for hit in hits)
    client, search = _word(element.of, "client_id"), _word(element.of, "query_id")
    query = _typed(element.of)
    return ClickRow(query, "", None, 0, 0, client_id=client, search_id=search, results=results, line=element.line)


def _typed(of: Mapping[str, Any]) -> str:
    text = of.get("user_query")
    if text is None or text == "":
        return ""
    if not isinstance(text, str):
        raise RowFault("E23", f"user_query is {value_kind(text)}")
    if text.strip():
        checked_query(text)
    return text


def _part(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = of.get(name)
    return part if isinstance(part, Mapping) else {}


def _word(of: Mapping[str, Any], name: str) -> str:
    value = of.get(name)
    if isinstance(value, dict | list | bool):
        raise RowFault("E23", f"{name} is {value_kind(value)}")
    return "" if value is None else str(value)


FORMAT = Format(
    name=NAME,
    title="Click log, UBI",
    tool="UBI",
    kind="click-log",
    extensions=(".ndjson", ".jsonl"),
    description="User Behavior Insights events and queries, one per line, with or without bulk action lines.",
    read=reader(NAME, EXAMPLE.splitlines()[0], stream, empty="events"),
    write=write,
    example=EXAMPLE,
    stream=stream,
    options={"columns": "sets the action that counts as a click or an impression, such as click=add_to_cart"},
)
