"""Judgments and query sets of OpenSearch's Search Relevance Workbench.

The workbench identifies queries by their text and writes ratings as strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, Pick
from assay.formats.json_lines import list_elements, object_parts, read_id, refuse_unstorable, write_objects
from assay.formats.json_lines import rows as json_rows
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import LabelRow, QueryRow
from assay.formats.text_keys import TextKeys, labels_by_query, whole_rating
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.writer import Written, whole_grade, write_text

JUDGMENTS, QUERY_SET, QUERIES = "srw-judgments", "srw-query-set", "srw-queries"
_RATINGS, _QUERIES = "judgmentRatings", "querySetQueries"
# Limits of the workbench.
MOST_NAME, MOST_DESCRIPTION = 50, 250
_JUDGMENT = (
    '{"name": "Demo", "type": "IMPORT_JUDGMENT", "judgmentRatings": [{"query": "...", "ratings": '
    '[{"docId": "doc-abc", "rating": "3"}]}]}'
)
_KNOWN = {"id", "name", "description", "type", "timestamp", "status", "metadata", _RATINGS}


def _parse(content: Content, tally: Tally, *, conflicts: Pick | None = None) -> Iterator[LabelRow]:
    if f'"{_RATINGS}"'.encode() not in content.head:
        tally.refuse(f"has no key {_RATINGS!r}, so it has no judgments of the workbench")
    by_key: Keyed[LabelRow] = Keyed(tally, conflicts)
    keys = TextKeys(tally)
    for where, line, query in _queries(content, tally):
        tally.read()
        with tally.rejecting(line, column=where):
            query_id, ratings = _query(query, keys, line, tally)
            tally.put("header")
            for number, rating in enumerate(ratings):
                tally.read()
                place = f"{where}.ratings[{number}]"
                with tally.rejecting(line, column=place):
                    row, repaired = _label(rating, query_id, query["query"], line, tally)
                    by_key.add(
                        (query_id, row.doc_id), row.grade, row, line, f"{place} {row.doc_id} {row.grade}", repaired
                    )
    for row in keys.padded(by_key.rows()):
        tally.grade(row.grade or 0)
        yield row


def _queries(content: Content, tally: Tally) -> Iterator[tuple[str, int, Any]]:
    """Yield the path, line and value of each query of one list, of several, or of search hits that contain lists."""
    if content.head.lstrip().startswith(b"["):
        for number, (line, value, _) in enumerate(list_elements(content, tally, MAX_TEXT)):
            yield from _inside(value, f"[{number}]", line, tally)
        return
    wrapped: list[tuple[str, int, Any]] = []
    number = 0
    for key, line, value in object_parts(content, tally, MAX_TEXT, frozenset({_RATINGS})):
        if key == _RATINGS:
            yield f"{_RATINGS}[{number}]", line, value
            number += 1
        elif key == "hits" and isinstance(value, dict):
            wrapped = [(f"hits.hits[{at}]", line, one) for at, one in enumerate(value.get("hits") or ())]
        elif key not in _KNOWN | {"took", "timed_out", "_shards"}:
            tally.once("W41", line, f"unknown key {key!r}", done="ignored", column=key)
    for where, line, one in wrapped:
        yield from _inside(one.get("_source") if isinstance(one, dict) else one, where, line, tally)


def _inside(value: Any, where: str, line: int, tally: Tally) -> Iterator[tuple[str, int, Any]]:
    if isinstance(value, dict) and isinstance(source := value.get("_source"), dict):
        value = source
    ratings = value.get(_RATINGS) if isinstance(value, dict) else None
    if not isinstance(ratings, list):
        tally.read()
        tally.reject("E23", line, f"not an object with {_RATINGS}", fix=tally.expected, column=where)
        return
    for number, one in enumerate(ratings):
        yield f"{where}.{_RATINGS}[{number}]", line, one


def _query(value: Any, keys: TextKeys, line: int, tally: Tally) -> tuple[str, list[Any]]:
    if isinstance(value, RowFault):
        raise value
    if not isinstance(value, dict) or not isinstance(value.get("ratings", []), list):
        raise RowFault("E23", "not an object with query and ratings")
    refuse_unstorable(value)
    if failures := value.get("failures"):
        number = len(failures) if isinstance(failures, list) else 1
        tally.once("W67", line, "a document that the judge failed to judge", done="without a label", times=number)
    return keys.query_id(value.get("query"), line), value.get("ratings", [])


def _label(value: Any, query_id: str, query: str, line: int, tally: Tally) -> tuple[LabelRow, bool]:
    if not isinstance(value, dict):
        raise RowFault("E23", "a rating is not an object with docId and rating")
    doc_id, numbered = read_id(value.get("docId"), line, tally, column="docId")
    note_unusual(tally, line, doc_id)
    rating = value.get("rating")
    if typed := isinstance(rating, int | float) and not isinstance(rating, bool):
        tally.once("W43", line, "a rating is a number", done="read as if it were text", column="rating")
    elif not isinstance(rating, str):
        raise RowFault("E12", f"the rating {rating!r} is not a number", 'write it as text, such as "3"')
    grade = whole_rating(rating)
    return LabelRow(query_id, doc_id, grade, query=query, line=line, by_text=True), numbered or typed


def _write(
    rows: Iterable[LabelRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    name: str = "Assay",
    description: str = "",
) -> Written:
    """Write labels as a list to import; the workbench identifies queries by their text."""
    if len(name) > MOST_NAME or len(description) > MOST_DESCRIPTION:
        raise NotValid(f"the name may have {MOST_NAME} characters and the description {MOST_DESCRIPTION}; shorten them")
    lines, written = [], 0
    for one in labels_by_query(JUDGMENTS, rows, queries):
        ratings = [
            {"docId": row.doc_id, "rating": whole_grade(row.grade, one.query_id, row.doc_id)} for row in one.labels
        ]
        lines.append("    " + json.dumps({"query": one.query, "ratings": ratings}, ensure_ascii=False))
        written += len(ratings)
    head = {"name": name, "description": description, "type": "IMPORT_JUDGMENT"}
    start = json.dumps(head, ensure_ascii=False, indent=2)[:-2]
    body = "[\n" + ",\n".join(lines) + "\n  ]" if lines else "[]"
    write_text(stream, f'{start},\n  "{_RATINGS}": {body}\n}}\n')
    return Written(written)


def _query_row(value: Any, keys: TextKeys, line: int, tally: Tally) -> QueryRow:
    if isinstance(value, RowFault):
        raise value
    if not isinstance(value, dict):
        raise RowFault("E23", "not an object with queryText")
    refuse_unstorable(value)
    for key in value.keys() - {"queryText"}:
        tally.once("W41", line, f"the key {key!r}", done="ignored", column=key)
    text = value.get("queryText")
    return QueryRow(keys.query_id(text, line), str(text), line=line, by_text=True)


def _parse_set(content: Content, tally: Tally) -> Iterator[QueryRow]:
    if f'"{_QUERIES}"'.encode() not in content.head:
        tally.refuse(f"has no key {_QUERIES!r}, so it is not a query set")
    keys, by_key, number = TextKeys(tally), Keyed[QueryRow](tally), 0
    for key, line, value in object_parts(content, tally, MAX_TEXT, frozenset({_QUERIES})):
        if key != _QUERIES:
            continue
        tally.read()
        where = f"{_QUERIES}[{number}]"
        number += 1
        with tally.rejecting(line, column=where):
            row = _query_row(value, keys, line, tally)
            by_key.add(row.query_id, row.query, row, line, row.query)
    yield from keys.padded(by_key.rows())


def _write_set(rows: Iterable[QueryRow], stream: BinaryIO, *, name: str = "Assay", description: str = "") -> Written:
    """Write a query set for the workbench's API."""
    if len(name) > MOST_NAME or len(description) > MOST_DESCRIPTION:
        raise NotValid(f"the name may have {MOST_NAME} characters and the description {MOST_DESCRIPTION}; shorten them")
    listed = [{"queryText": row.query} for row in rows]
    whole = {"name": name, "description": description, "sampling": "manual", _QUERIES: listed}
    stream.write((json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode())
    return Written(len(listed))


def _parse_queries(content: Content, tally: Tally) -> Iterator[QueryRow]:
    keys = TextKeys(tally)
    rows = json_rows(
        content,
        tally,
        lambda element, tally: (_query_row(element.of, keys, element.line, tally), False),
        lambda row: (row.query_id, row.query),
    )
    yield from keys.padded(rows)


def _write_queries(rows: Iterable[QueryRow], stream: BinaryIO) -> Written:
    """Write one query per line for the workbench's upload."""
    return write_objects(({"queryText": row.query} for row in rows), stream)


def _example_of(write: Any, rows: list[Any]) -> str:
    from io import BytesIO

    stream = BytesIO()
    write(rows, stream)
    return stream.getvalue().decode()


_LABELS = [LabelRow("q1", "doc-abc", 3, query="running shoes"), LabelRow("q1", "doc-mno", 0, query="running shoes")]
_TEXTS = [QueryRow("q001", "running shoes"), QueryRow("q002", "tent")]

JUDGMENTS_FORMAT = Format(
    name=JUDGMENTS,
    title="Search Relevance Workbench judgments, JSON",
    tool="OpenSearch",
    kind="qrels",
    description="Judgment lists of OpenSearch's Search Relevance Workbench, as it imports, stores and returns them.",
    read=reader(JUDGMENTS, _JUDGMENT, _parse, empty="judgments"),
    write=_write,
    example=_example_of(_write, _LABELS),
    by_text=True,
)
QUERY_SET_FORMAT = Format(
    name=QUERY_SET,
    title="Search Relevance Workbench query set, JSON",
    tool="OpenSearch",
    kind="queries",
    description="A query set as the API of OpenSearch's Search Relevance Workbench takes it.",
    read=reader(QUERY_SET, '{"name": "Demo", "querySetQueries": [{"queryText": "..."}]}', _parse_set),
    write=_write_set,
    example=_example_of(_write_set, _TEXTS),
    by_text=True,
)
QUERIES_FORMAT = Format(
    name=QUERIES,
    title="Search Relevance Workbench queries, JSONL",
    tool="OpenSearch",
    kind="queries",
    extensions=(".ndjson", ".jsonl"),
    description="One query per line, as OpenSearch's Search Relevance Workbench uploads query sets.",
    read=reader(QUERIES, '{"queryText": "..."}', _parse_queries),
    write=_write_queries,
    example=_example_of(_write_queries, _TEXTS),
    by_text=True,
)
