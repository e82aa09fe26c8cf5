"""Conversion of a JSON list to a file, so that the same reader handles lists and files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotValid
from assay.core.text_rules import id_fault


class PostedFile(NamedTuple):
    """A list as a file of one of our formats."""

    format: str
    content: bytes


def json_lines(format: str, rows: Sequence[Any]) -> PostedFile:
    """Write one row per line; the reader validates the rows."""
    return PostedFile(format, "".join(f"{_line(number, row)}\n" for number, row in enumerate(rows, 1)).encode())


def _line(number: int, row: Any) -> str:
    try:
        return json.dumps(row)
    except RecursionError:
        raise _refusal(number, "it is nested too deeply") from None


def table(format: str, rows: Sequence[Any], *, numeric: Iterable[str] = ()) -> PostedFile:
    """Write rows as CSV with a column for every key that occurs."""
    objects = list(_objects(rows))
    columns = list(dict.fromkeys(key for row in objects for key in row))
    bare = set(numeric)
    lines = [csv_row(columns)]
    for number, row in enumerate(objects, 1):
        cells = {column: _cell(number, column, row.get(column)) for column in columns}
        lines.append(csv_row([cells[column] if column in bare else escape(cells[column]) for column in columns]))
    return PostedFile(format, "".join(lines).encode("utf-8", "surrogatepass")) if objects else PostedFile(format, b"")


def trec_lines(format: str, rows: Sequence[Any], rest: Any) -> PostedFile:
    """Write rows as lines of a TREC file: the ids, with the fields that ``rest(number, row)`` returns between and after
    them."""
    lines = []
    for number, row in enumerate(_objects(rows), 1):
        query_id, doc_id = (_id(number, row, name) for name in ("query_id", "doc_id"))
        between, after = rest(number, row)
        # The leading space prevents an id that begins with # from being read as a comment.
        lines.append(f" {query_id} {between} {doc_id} {after}\n")
    return PostedFile(format, "".join(lines).encode())


def scored_lines(format: str, rows: Sequence[Any]) -> PostedFile:
    """Write rows of query_id, doc_id and score as JSON lines, with ids that are valid in TREC files."""
    lines = []
    for number, row in enumerate(_objects(rows), 1):
        ids = {name: _id(number, row, name) for name in ("query_id", "doc_id")}
        lines.append({**ids, "score": number_of(number, row, "score")})
    return json_lines(format, lines)


def labels(rows: Sequence[Any]) -> PostedFile:
    """Write a judgment list as it is, or rows of query_id, doc_id and grade as qrels."""
    if rows and isinstance(rows[0], Mapping) and "ratings" in rows[0]:
        return PostedFile("judgment-list", json.dumps(rows, indent=0).encode())
    return trec_lines("trec-qrels", rows, lambda number, row: ("0", repr(number_of(number, row, "grade"))))


def number_of(number: int, row: Mapping[str, Any], name: str) -> float:
    """Return a number of a row."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refusal(number, f"{name} is {value!r}, not a number")
    return value


def whole_number_of(number: int, row: Mapping[str, Any], name: str) -> int:
    """Return a whole number of a row; fractions are truncated."""
    value = number_of(number, row, name)
    if value in (float("inf"), float("-inf")):
        raise _refusal(number, f"{name} is too large")
    return int(value)


def _objects(rows: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise _refusal(number, "it is not an object")
        yield row


def _cell(number: int, column: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _refusal(number, f"{column} is of type {type(value).__name__}, but must be a string or a number")
    return str(value)


def _id(number: int, row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        raise _refusal(number, f"{name} is missing" if value is None else f"{name} is not a string")
    if fault := id_fault(text, spaces=False):
        raise _refusal(number, f"{name} {fault[1]}")
    return text


def _refusal(number: int, what: str) -> NotValid:
    message = f"Row {number} of the list cannot be read: {what}."
    return NotValid(message, "file")
