"""Read JSONL formats with every line accounted for, refuse ambiguous JSON, and write them.

Python keeps the last of two equal keys and accepts ``NaN``; this parser reports both as errors.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from sys import float_info
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, TypeGuard, TypeVar

from assay.core.errors import NotValid
from assay.core.read_report import MAX_RAW, RowFault, Tally
from assay.formats.grade_cells import Keyed, Pick, checked_id
from assay.formats.reader import Read, note_unusual, reader
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

if TYPE_CHECKING:
    from assay.formats.text_lines import Content

# A readable value may still be too deep to write, because the stack differs.
MOST_LEVELS = 100

_SPACE = re.compile(r"[ \t\r\n]*")
_HALF = re.compile("[\ud800-\udfff]")
# Each begins with text that can be searched fast; a single pattern for both takes eight times as long. The lookbehind
# for two digits checks only the first digit of a run, so that long runs do not take quadratic time.
_ESCAPED = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_LARGE = re.compile(r"[0-9](?:[eE]\+?[0-9]{3}|(?<![0-9]{2})[0-9]{308})")
# Whole numbers above this cannot be converted to float.
_LARGEST = int(float_info.max)


class Element(NamedTuple):
    """One object of a JSONL file."""

    line: int
    of: dict[str, Any]
    raw: str


class HasLines(Protocol):
    """A whole file, or some of its lines."""

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number, text) without line ends."""


def objects(content: HasLines, tally: Tally) -> Iterator[Element]:
    """Yield the objects of a file; other lines are counted here."""
    for line, text in content.lines():
        tally.read()
        if not text.strip():
            tally.put_blank(line)
            continue
        # A context for each line would take a tenth of the time.
        try:
            value = parse(text)
            if not isinstance(value, dict):
                raise RowFault("E24", "not a JSON object")
        except RowFault as fault:
            tally.reject(fault.code, line, str(fault), fix=fault.fix or tally.expected, raw=text)
        else:
            yield Element(line, value, text)


def list_elements(content: Content, tally: Tally, most: int) -> Iterator[tuple[int, Any, str]]:
    """Yield (line, value, beginning of its text) of each element of a JSON list; a refused value is its fault."""
    text = content.text(most).replace("\r\n", "\n").replace("\r", "\n")
    at, line, counted = after_space(text, text.index("[") + 1), 1, 0
    more = text[at : at + 1] != "]"
    while more:
        line, counted, begin = line + text.count("\n", counted, at), at, at
        value, at = _decoded(text, at, tally)
        yield line, value, text[begin : min(at, begin + MAX_RAW)]
        at = after_space(text, at)
        more = text[at : at + 1] == ","
        at = after_space(text, at + 1) if more else at
    if text[at : at + 1] != "]" or text[at + 1 :].strip():
        what = "there is text after the list" if text[at : at + 1] == "]" else ", or ] is missing"
        tally.refuse(f"JSON syntax error: {what}", line=text.count("\n", 0, at) + 1, code="F05")


def object_parts(content: Content, tally: Tally, most: int, listed: frozenset[str]) -> Iterator[tuple[str, int, Any]]:
    """Yield (key, line, value) of each member of one JSON object, and of each element of the lists under ``listed``; a
    refused value is its fault.
    """
    text = content.text(most).replace("\r\n", "\n").replace("\r", "\n")
    line, counted, seen = 1, 0, set[str]()

    def line_at(place: int) -> int:
        nonlocal line, counted
        line, counted = line + text.count("\n", counted, place), place
        return line

    def expect(place: int, signs: str) -> str:
        if (sign := text[place : place + 1]) and sign in signs:
            return sign
        tally.refuse(f"JSON syntax error: expected {' or '.join(signs)}", line=line_at(place), code="F05")

    at = after_space(text, 0)
    expect(at, "{")
    at = after_space(text, at + 1)
    more = text[at : at + 1] != "}"
    while more:
        expect(at, '"')
        begin = at
        key, at = _decoded(text, at, tally)
        if key in seen:
            tally.refuse(f"the key {key!r} appears twice in one object", line=line_at(begin), code="F05")
        seen.add(str(key))
        expect(at := after_space(text, at), ":")
        at = after_space(text, at + 1)
        if key in listed and text[at : at + 1] == "[":
            at = after_space(text, at + 1)
            inner = text[at : at + 1] != "]"
            while inner:
                begin = at
                value, at = _decoded(text, at, tally)
                yield str(key), line_at(begin), value
                inner = expect(at := after_space(text, at), ",]") == ","
                at = after_space(text, at + 1) if inner else at
            at += 1
        else:
            begin = at
            value, at = _decoded(text, at, tally)
            yield str(key), line_at(begin), value
        more = expect(at := after_space(text, at), ",}") == ","
        at = after_space(text, at + 1) if more else at
    if text[at + 1 :].strip():
        tally.refuse("JSON syntax error: there is text after the object", line=line_at(at + 1), code="F05")


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


def after_space(text: str, at: int) -> int:
    """Return the position after the white space at a position."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def parse(text: str) -> Any:
    """Parse one JSON text."""
    try:
        value = DECODER.decode(text)
        if text.count("[") + text.count("{") > MOST_LEVELS:
            _refuse_too_deep(value)
        if may_be_unstorable(text):
            refuse_unstorable(value)
        return value
    except RowFault:
        raise
    except RecursionError:
        raise RowFault("E24", "nested too deeply") from None
    except ValueError as error:
        raise RowFault("E24", f"not JSON ({error})") from None


def _refuse_too_deep(value: Any) -> None:
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            part
            for whole in level
            if isinstance(whole, (dict, list))
            for part in (whole.values() if isinstance(whole, dict) else whole)
        ]
    if any(isinstance(part, (dict, list)) for part in level):
        raise RowFault("E24", "nested too deeply")


def may_be_unstorable(text: str) -> bool:
    """Return whether `refuse_unstorable` must check the value of a JSON text."""
    return bool(_ESCAPED.search(text) or _LARGE.search(text))


def refuse_unstorable(value: Any) -> None:
    """Raise an exception if a value contains text or numbers that UTF-8 or a database cannot store."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting.extend((*part, *part.values()))
        elif isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, str) and "\0" in part:
            raise RowFault("E19", "a NUL character in a text")
        elif isinstance(part, str) and _HALF.search(part):
            raise RowFault("E19", "an unpaired surrogate in a text")
        elif isinstance(part, int | float) and not -_LARGEST <= part <= _LARGEST:
            raise RowFault("E12", "a number is too large")


def dump(value: Mapping[str, Any]) -> bytes:
    """Return a line of JSON as UTF-8, with keys in the given order and without unnecessary escapes."""
    try:
        return (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except ValueError as error:
        raise NotValid(f"cannot be written as JSON: {error}") from error


def id_text(value: Any) -> tuple[str, bool]:
    """Return an id as text, and whether it was a number."""
    if isinstance(value, str):
        return value, False
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value), True
    raise RowFault("E23", f"an id is {value_kind(value)}, not text")


def read_id(
    value: Any, line: int | None, tally: Tally, name: str = "document id", *, column: str = ""
) -> tuple[str, bool]:
    """Return a valid id, and whether it was a number, which is reported; raise `RowFault` for another value."""
    text, numbered = id_text(value)
    checked_id(text, name)
    if numbered:
        tally.once("W42", line, "an id is a number", done="read as text", column=column)
    return text, numbered


def note_unknown(of: Mapping[str, Any], known: Collection[str], line: int | None, tally: Tally) -> None:
    """Report keys that are not read."""
    for key in of.keys() - set(known):
        tally.once("W41", line, f"unknown key {key!r}", done="ignored", column=key)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    element = dict(pairs)
    if len(element) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise RowFault("E20", f"the key {twice!r} appears twice in one object")
    return element


def _constant(name: str) -> float:
    raise RowFault("E12", f"{name} is not a JSON number")


DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


Row = TypeVar("Row")
# The row of an object, and whether part of it was repaired.
RowReader = Callable[[Element, Tally], tuple[Row, bool]]
# The key of a row, and the value on which two rows with the same key must agree.
Key = Callable[[Row], tuple[Hashable, object]]


def rows(
    content: Content, tally: Tally, read_row: RowReader[Row], key: Key[Row] | None = None, pick: Pick | None = None
) -> Iterator[Row]:
    """Yield the rows of a JSONL file; every line is counted in one bin."""
    by_key: Keyed[Row] = Keyed(tally, pick)
    for element in objects(content, tally):
        with tally.rejecting(element.line, raw=element.raw):
            row, repaired = read_row(element, tally)
            if key is None:
                tally.accept(repaired)
                yield row
            else:
                by_key.add(*key(row), row, element.line, element.raw, repaired)
    yield from by_key.rows()


def ids(element: Element, tally: Tally, names: Mapping[str, str], known: Collection[str]) -> tuple[list[str], bool]:
    """Return the ids of an object, and whether one was a number; unknown keys are reported."""
    given = [read_id(element.of.get(key), element.line, tally, f"{name} id") for key, name in names.items()]
    texts = [text for text, _ in given]
    note_unusual(tally, element.line, *texts)
    note_unknown(element.of, {*names, *known}, element.line, tally)
    return texts, any(numbered for _, numbered in given)


def text(of: Mapping[str, Any], name: str) -> str:
    """Return a text that may be missing."""
    value = of.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise RowFault("E23", f"{name} is {value_kind(value)}, not text")


def number(of: Mapping[str, Any], name: str, fix: str) -> float:
    """Return a number."""
    value = of.get(name)
    if not is_number(value):
        raise RowFault("E12", f"{name} is {value!r}, not a number", fix)
    return float(value)


def is_number(value: object, *, whole: bool = False, most: float = math.inf) -> TypeGuard[float]:
    """Return whether a value is a number, not true or false, and at most this large."""
    kinds = int if whole else int | float
    return isinstance(value, kinds) and not isinstance(value, bool) and value <= most


def row_reader(
    format: str, line: str, read_row: RowReader[Row], key: Key[Row] | None = None
) -> Callable[..., Read[Row]]:
    """Return the reader of a format with one row per line and without options of its own."""
    return reader(format, line, lambda content, tally: rows(content, tally, read_row, key))


def values_of(row: object, *names: str) -> dict[str, Any]:
    """Return some fields of a row as an object for JSON; an empty text is null."""
    return {name: None if (value := getattr(row, name)) == "" else value for name in names}


def write_objects(objects: Iterable[Mapping[str, Any]], stream: BinaryIO) -> Written:
    """Write one object per line, in the given order."""
    written = 0
    for one in objects:
        stream.write(dump(one))
        written += 1
    return Written(written)
