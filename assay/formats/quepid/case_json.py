"""JSON files of a Quepid case: its ratings, and the whole case with needs, ratings and search settings.

Search settings may contain passwords. They are neither read nor reported with their values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick
from assay.formats.json_lines import id_text, object_parts, refuse_unstorable, text
from assay.formats.quepid.case_csv import NOT_OF_LABELS, NOT_OF_QUERIES
from assay.formats.reader import reader
from assay.formats.row_types import LabelRow, QueryRow
from assay.formats.text_keys import TextKeys, TextLabels, labels_by_query, number_text, query_text, refuse_shared_texts
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written, fields_left_out, write_text

RATINGS, CASE, QUERIES = "quepid-ratings-json", "quepid-case", "quepid-case-queries"
_LINE = '{"queries": [{"query": "star trek", "ratings": {"193": 1.0}}]}'
_CASE_LINE = '{"case_name": "Films", "queries": [{"query_text": "star trek", "ratings": []}]}'
_WRAPPER = "case"
_LABELS = (
    '{"case_name": "Assay", "queries": [\n  {"query_text": "star wars", "information_need": null, "ratings": '
    '[{"doc_id": "11", "rating": 3.0, "user_email": null}]}\n]}\n'
)
_NEEDS = (
    '{"case_name": "Assay", "queries": [\n'
    '  {"query_text": "star wars", "information_need": "Films of the series", "ratings": []}\n]}\n'
)
# Members of an exported case that the rows do not have.
_INCOMPLETE = (
    "Quepid imports a case only with its scorer and search settings; copy the members scorer and try from an export of "
    "a case in your Quepid"
)


def _queries(content: Content, tally: Tally) -> Iterator[tuple[str, int, Any]]:
    """Yield (path, line, value) of each query; other members of the case are not read."""
    if not content.head.lstrip().startswith(b"{") or b'"queries"' not in content.head:
        tally.refuse("is not a JSON object with queries")
    number = 0
    for key, line, value in object_parts(content, tally, MAX_TEXT, frozenset({"queries"})):
        if key == "queries":
            yield f"queries[{number}]", line, value
            number += 1
        elif key == _WRAPPER and isinstance(value, dict) and isinstance(value.get("queries"), list):
            for at, one in enumerate(value["queries"]):
                yield f"{_WRAPPER}.queries[{at}]", line, one
        elif key == "try" and value:
            tally.once("W41", line, "the search settings of the case (try)", done="ignored", column=key)


def _query(value: Any) -> tuple[Any, dict[str, Any]]:
    """Return the text of a query and the query."""
    if isinstance(value, RowFault):
        raise value
    if not isinstance(value, dict):
        raise RowFault("E23", f"a query is {value_kind(value)}, not an object")
    refuse_unstorable(value)
    return value.get("query_text", value.get("query")), value


def _read_labels(
    content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
) -> Iterator[LabelRow]:
    labels = TextLabels(tally, conflicts, grades)
    for where, line, value in _queries(content, tally):
        tally.read()
        with tally.rejecting(line, column=where):
            query, of = _query(value)
            ratings = _ratings(of.get("ratings"))
            labels.keys.query_id(query, line)
            if not ratings:
                labels.without_labels(query, line, "", counted_as="header", column=where)
                continue
            tally.put("header")
            for number, (doc_id, rating) in enumerate(ratings):
                tally.read()
                column = f"{where}.ratings[{number}]"
                with tally.rejecting(line, column=column):
                    name, numbered = id_text(doc_id)
                    if numbered:
                        tally.once("W42", line, "a document id is a number", done="read as text", column="doc_id")
                    raw = f"{column} {name} {rating}"
                    labels.add(query, name, rating, line, raw, column=column, repaired=numbered)
    yield from labels.rows()


def _ratings(value: Any) -> list[tuple[Any, Any]]:
    """Return (document id, rating) from ``{"193": 1.0}`` or ``[{"doc_id": "193", "rating": 1.0}]``."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return [(one.get("doc_id"), one.get("rating")) for one in value]
    if value is None:
        return []
    raise RowFault("E23", "ratings is neither an object nor a list of objects")


def _read_queries(content: Content, tally: Tally) -> Iterator[QueryRow]:
    keys, by_key = TextKeys(tally), Keyed[QueryRow](tally)
    for where, line, value in _queries(content, tally):
        tally.read()
        with tally.rejecting(line, column=where):
            query, of = _query(value)
            row = QueryRow(keys.query_id(query, line), query, text(of, "information_need"), line=line, by_text=True)
            by_key.add(query, row.narrative, row, line, where)
    yield from keys.padded(by_key.rows())


def _write(rows: Iterable[LabelRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None) -> Written:
    """Write one query per line."""
    grouped = labels_by_query(RATINGS, rows, queries)
    lines = []
    for one in grouped:
        ratings = ", ".join(f"{_quoted(row.doc_id)}: {number_text(row.grade or 0)}" for row in one.labels)
        lines.append(f'{{"query": {_quoted(one.query)}, "ratings": {{{ratings}}}}}')
    _write_lines(stream, "", lines)
    return Written(sum(len(one.labels) for one in grouped))


def _write_case(
    rows: Iterable[LabelRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None, name: object = "Assay"
) -> Written:
    """Write the labels of a case, without needs and settings."""
    grouped = labels_by_query(CASE, rows, queries)
    _write_queries(stream, name, ((one.query, "", one.labels) for one in grouped))
    labels = [row for one in grouped for row in one.labels]
    return _incomplete(len(labels), fields_left_out(CASE, labels, NOT_OF_LABELS))


def _write_needs(rows: Iterable[QueryRow], stream: BinaryIO, *, name: object = "Assay") -> Written:
    """Write the queries of a case, without ratings and settings."""
    listed = sorted(rows, key=lambda row: row.query_id)
    refuse_shared_texts(QUERIES, ((row.query_id, row.query) for row in listed))
    _write_queries(stream, name, ((query_text(QUERIES, row.query_id, row.query), row.narrative, ()) for row in listed))
    return _incomplete(len(listed), fields_left_out(QUERIES, listed, NOT_OF_QUERIES))


def _incomplete(rows: int, notes: tuple[str, ...]) -> Written:
    return Written(rows, (*notes, _INCOMPLETE) if rows else ())


def _write_queries(stream: BinaryIO, name: object, queries: Iterable[tuple[str, str, Sequence[LabelRow]]]) -> None:
    """Write a case from the text, need and labels of each query."""
    lines = []
    for query, need, labels in queries:
        ratings = [{"doc_id": row.doc_id, "rating": float(row.grade or 0), "user_email": None} for row in labels]
        of = {"query_text": query, "information_need": need or None, "ratings": ratings}
        lines.append(json.dumps(of, ensure_ascii=False))
    _write_lines(stream, f'"case_name": {_quoted(str(name))}, ', lines)


def _write_lines(stream: BinaryIO, head: str, lines: list[str]) -> None:
    body = "[\n  " + ",\n  ".join(lines) + "\n]" if lines else "[]"
    write_text(stream, f'{{{head}"queries": {body}}}\n')


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


RATINGS_FORMAT = Format(
    name=RATINGS,
    title="Quepid ratings, JSON",
    tool="Quepid",
    kind="qrels",
    description="Each query of a case with the ratings of its documents.",
    read=reader(RATINGS, _LINE, _read_labels),
    write=_write,
    example='{"queries": [\n  {"query": "star trek", "ratings": {"193": 3, "201": 0}}\n]}\n',
    by_text=True,
)
CASE_FORMAT = Format(
    name=CASE,
    title="Quepid case, JSON",
    tool="Quepid",
    kind="qrels",
    description=(
        "The ratings of an exported case; its search settings, which may contain passwords, are neither read nor "
        "written."
    ),
    read=reader(CASE, _CASE_LINE, _read_labels),
    write=_write_case,
    example=_LABELS,
    by_text=True,
)
QUERIES_FORMAT = Format(
    name=QUERIES,
    title="Queries of a Quepid case, JSON",
    tool="Quepid",
    kind="queries",
    description="The queries and information needs of an exported case, the same file as quepid-case.",
    read=reader(QUERIES, _CASE_LINE, _read_queries),
    write=_write_needs,
    example=_NEEDS,
    by_text=True,
)
