"""Entries of JSON objects, one per pair, on separate lines (JSONL) or in a list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assay.core.read_report import Tally
from assay.formats.column_names import SILENT, note_rest
from assay.formats.grade_cells import RowFault
from assay.formats.json_lines import DECODER, Element, id_text, objects
from assay.formats.pair_entries import Absent, Entry
from assay.formats.reader import NeedsCare
from assay.formats.text_lines import MAX_EXPANDED, Content

if TYPE_CHECKING:
    from assay.formats.pair_columns import PairColumns

# Number of bytes of a file to read at once.
PIECE = 4 << 20
Known = Mapping[str, tuple[str, ...]]

_SPACE = re.compile(r"[ \t\r\n]*")


def line_entries(content: Content, tally: Tally, known: Known, value: str) -> Iterator[Entry]:
    """Yield the pairs of a file with one object per line; anything else is counted here."""
    return _entries(((element, "") for element in objects(content, tally)), tally, known, value)


def list_entries(content: Content, tally: Tally, known: Known, value: str) -> Iterator[Entry]:
    """Yield the pairs of a JSON list of objects, as `line_entries` does."""
    return _entries(_elements(content, tally), tally, known, value)


def line_columns(content: Content, tally: Tally, known: Known, value: str) -> Iterator[PairColumns]:
    """Yield the columns of a well-formed file with one object per line, a piece at a time."""
    import numpy as np

    from assay.core.text_column import Texts
    from assay.formats.pair_columns import PairColumns, real_numbers, refuse_odd_ids

    names: dict[str, str] | None = None
    for before, data in content.pieces(PIECE):
        rows = _plain_objects(data)
        if names is None:
            names = _names(rows[0], known)
            _note_names(rows[0], names, known, before + 1, tally)
        if not {"query_id", "doc_id", value} <= set(names.values()) or any(row.keys() != names.keys() for row in rows):
            raise NeedsCare
        columns = {names[key]: [row[key] for row in rows] for key in names}
        if any(set(map(type, columns[key])) != {str} for key in columns.keys() - {value, "rank"}):
            raise NeedsCare
        ids = [columns["query_id"], columns["doc_id"]]
        for column in ids:
            refuse_odd_ids(column)
        ranks = real_numbers(columns["rank"]) if "rank" in columns else None
        tally.read(len(rows))
        tally.put("accepted", len(rows))
        lines = np.arange(len(rows)) + (before + 1)
        yield PairColumns(Texts.of(ids[0]), Texts.of(ids[1]), real_numbers(columns[value]), ranks, lines)


def _plain_objects(data: bytes) -> list[dict[str, Any]]:
    """Parse all lines at once, which is valid because no text or object spans two lines."""
    lines = data.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    quotes = lines[0].count(b'"')
    if not quotes or b"\\" in data or any(line.count(b'"') != quotes or b"\r" in line for line in lines):
        raise NeedsCare
    try:
        rows = json.loads(b"[" + b",".join(lines) + b"]", parse_constant=_odd)
    except (RecursionError, ValueError):
        raise NeedsCare from None
    # If each line has this many quotation marks, a repeated key shows in the number of keys.
    texts = sum(isinstance(one, str) for one in rows[0].values()) if rows and isinstance(rows[0], dict) else 0
    if len(rows) != len(lines) or any(type(row) is not dict or 2 * len(row) + 2 * texts != quotes for row in rows):
        raise NeedsCare
    return rows  # type: ignore[no-any-return]


def _entries(elements: Iterator[tuple[Element, str]], tally: Tally, known: Known, value: str) -> Iterator[Entry]:
    for element, where in elements:
        try:
            yield _entry(element, tally, known, value, where)
        except RowFault as fault:
            column = where or ""
            fix = fault.fix or tally.expected
            tally.reject(fault.code, element.line, str(fault), fix=fix, raw=element.raw, column=column)


def _entry(element: Element, tally: Tally, known: Known, value: str, where: str) -> Entry:
    names = _names(element.of, known)
    _note_names(element.of, names, known, element.line, tally)
    of = {names[key]: part for key, part in element.of.items() if key in names}
    for needed in ("query_id", "doc_id"):
        if needed not in of:
            raise RowFault("E23", f"the key {needed} is missing")
    if value not in of and (value == "grade" or "rank" not in of):
        raise RowFault("E23", f"the key {value} is missing")
    query_id, number = id_text(of["query_id"])
    doc_id, another = id_text(of["doc_id"])
    if number or another:
        tally.once("W42", element.line, "an id is a number", done="read as text")
    tag = of.get("tag")
    return Entry(
        element.line,
        query_id,
        doc_id,
        of.get(value, Absent),
        of.get("rank"),
        tag if isinstance(tag, str) else "",
        element.raw,
        f"{where}.{value}" if where else "",
        number or another,
    )


def _names(of: Mapping[str, object], known: Known) -> dict[str, str]:
    """Return which keys of an object are read, and for which field; the first alternative name wins."""
    names: dict[str, str] = {}
    for key, others in known.items():
        if alias := next((name for name in (key, *others) if name in of and name not in names), None):
            names[alias] = key
    return names


def _note_names(of: Mapping[str, object], names: Mapping[str, str], known: Known, line: int, tally: Tally) -> None:
    taken = {key: name for name, key in names.items()}
    for name in of:
        key = names.get(name)
        if key is None and name.casefold() not in SILENT:
            note_rest(name, line, taken, known, tally, "key")
        elif key not in (name, None):
            tally.once("W47", line, f"the key {name!r}", done=f"read as {key}", column=name)


def _elements(content: Content, tally: Tally) -> Iterator[tuple[Element, str]]:
    text = content.text(MAX_EXPANDED).replace("\r\n", "\n").replace("\r", "\n")
    at, place, line, counted = text.index("[") + 1, 0, 1, 0
    at = _after_space(text, at)
    more = text[at : at + 1] != "]"
    while more:
        line, counted, begin = line + text.count("\n", counted, at), at, at
        value, at = _decoded(text, at, tally)
        tally.read()
        where, raw = f"[{place}]", text[begin : min(at, begin + 200)]
        if isinstance(value, dict):
            yield Element(line, value, raw), where
        else:
            fault = value if isinstance(value, RowFault) else RowFault("E23", "not an object")
            tally.reject(fault.code, line, str(fault), fix=fault.fix or tally.expected, raw=raw, column=where)
        at, place = _after_space(text, at), place + 1
        more = text[at : at + 1] == ","
        at = _after_space(text, at + 1) if more else at
    if text[at : at + 1] != "]" or text[at + 1 :].strip():
        what = "there is text after the list" if text[at : at + 1] == "]" else ", or ] is missing"
        tally.refuse(f"JSON syntax error: {what}", line=text.count("\n", 0, at) + 1, code="F05")


def _decoded(text: str, at: int, tally: Tally) -> tuple[object, int]:
    decoder: json.JSONDecoder = DECODER
    fault: RowFault | None = None
    while True:
        try:
            value, end = decoder.raw_decode(text, at)
            return fault or value, end
        except RowFault as found:
            # The standard decoder accepts repeated keys and NaN.
            fault, decoder = found, json.JSONDecoder()
        except json.JSONDecodeError as error:
            tally.refuse(f"JSON syntax error: {error.msg} in column {error.colno}", line=error.lineno, code="F05")
        except (RecursionError, ValueError) as error:
            tally.refuse(f"JSON cannot be read: {error}", line=text.count("\n", 0, at) + 1, code="F05")


def _after_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _odd(_: str) -> float:
    raise NeedsCare
