"""Shared reader and writer of JSONL formats, with every line accounted for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Protocol, TypeVar

from assay.core.ids import id_fault
from assay.core.read_report import Tally
from assay.formats.grade_cells import Keyed, Pick, RowFault
from assay.formats.json_lines import Element, dump, id_text, objects
from assay.formats.reader import Read, collect, note_unusual, open_as
from assay.formats.text_lines import Content, Source
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

Row = TypeVar("Row")
# The row of an object, and whether part of it was repaired.
RowReader = Callable[[Element, Tally], tuple[Row, bool]]
# The key of a row, and the value on which two rows with the same key must agree.
Key = Callable[[Row], tuple[Hashable, object]]


class Reader(Protocol[Row]):
    """Reader of a format without options of its own."""

    def __call__(self, source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[Row]:
        """Read a file and account for every line."""


def reader(format: str, example: str, parse: Callable[[Content, Tally], Iterable[Row]]) -> Reader[Row]:
    """Return the reader of a format for a function that yields its rows."""

    def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[Row]:
        return collect(*open_as(source, path, format, example, encoding=encoding), parse)

    read.__doc__ = Reader.__call__.__doc__
    return read


def rows(
    content: Content, tally: Tally, read_row: RowReader[Row], key: Key[Row] | None = None, pick: Pick | None = None
) -> Iterator[Row]:
    """Yield the rows of a JSONL file; every line is counted in one bin."""
    by_key: Keyed[Row] = Keyed(tally, pick)
    for element in objects(content, tally):
        try:
            row, repaired = read_row(element, tally)
        except RowFault as fault:
            tally.reject(fault.code, element.line, str(fault), fix=fault.fix or tally.expected, raw=element.raw)
            continue
        bin = "repaired" if repaired else "accepted"
        if key is None:
            tally.put(bin)
            yield row
        else:
            by_key.add(*key(row), row, element.line, element.raw, bin)
    yield from by_key.rows()


def ids(element: Element, tally: Tally, names: Mapping[str, str], known: Collection[str]) -> tuple[list[str], bool]:
    """Return the ids of an object, and whether one was a number; unknown keys are reported."""
    id_values = [id_text(element.of.get(key)) for key in names]
    texts = [text for text, _ in id_values]
    for name, text in zip(names.values(), texts, strict=True):
        if fault := id_fault(text):
            raise RowFault(fault[0], f"the {name} id {fault[1]}", "correct the id")
    numbered = any(number for _, number in id_values)
    if numbered:
        tally.once("W42", element.line, "an id is a number", done="read as text")
    note_unusual(tally, element.line, *texts)
    for key in element.of.keys() - {*names, *known}:
        tally.once("W41", element.line, f"unknown key {key!r}", done="ignored", column=key)
    return texts, numbered


def text(of: Mapping[str, Any], name: str) -> str:
    """Return a text that may be missing."""
    value = of.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise RowFault("E23", f"{name} is {value_kind(value)}, not text")


def number(of: Mapping[str, Any], name: str, fix: str) -> float:
    """Return a number."""
    value = of.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowFault("E12", f"{name} is {value!r}, not a number", fix)
    return float(value)


def write_objects(objects: Iterable[Mapping[str, Any]], stream: BinaryIO) -> Written:
    """Write one object per line, in the given order."""
    written = 0
    for one in objects:
        stream.write(dump(one))
        written += 1
    return Written(written)
