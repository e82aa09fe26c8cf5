"""Shared reader and writer of JSONL formats, with every line accounted for."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, TypeGuard, TypeVar

from assay.core.read_report import RowFault, Tally
from assay.formats.grade_cells import Keyed, Pick
from assay.formats.json_lines import Element, dump, note_unknown, objects, read_id
from assay.formats.reader import Read, note_unusual, reader
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

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
