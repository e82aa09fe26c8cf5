"""Entries of JSON files of pairs: objects on separate lines or in a list, or ``{query: {document: number}}``.

The standard parser keeps the last of two equal keys and records no lines. It still reads well-formed files, with a
check of every key; a nested object that is not well-formed is parsed key by key, with the line of each pair.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from assay.core.errors import UnreadableInput
from assay.core.read_report import RowFault, Tally
from assay.formats.column_names import SILENT, note_rest
from assay.formats.json_lines import Element, after_space, id_text, list_elements, objects
from assay.formats.pair_layouts import Absent, Entry
from assay.formats.reader import NeedsCare
from assay.formats.text_lines import HEAD, MAX_EXPANDED, Content

if TYPE_CHECKING:
    from assay.formats.pair_columns import PairColumns

# Number of bytes of a file to read at once.
PIECE = 4 << 20
# A token that is cut off at the end of the head is not a reason to refuse the file.
LONGEST_WORD = 8_192
Known = Mapping[str, tuple[str, ...]]

_DECODER = json.JSONDecoder()


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
        with tally.rejecting(element.line, raw=element.raw, column=where):
            yield _entry(element, tally, known, value, where)


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
    for place, (line, value, raw) in enumerate(list_elements(content, tally, MAX_EXPANDED)):
        tally.read()
        where = f"[{place}]"
        if isinstance(value, dict):
            yield Element(line, value, raw), where
        else:
            fault = value if isinstance(value, RowFault) else RowFault("E23", "not an object")
            tally.reject(fault.code, line, str(fault), fix=fault.fix or tally.expected, raw=raw, column=where)


def nested_entries(content: Content, tally: Tally) -> Iterator[Entry]:
    """Yield the pairs of a JSON object of objects; anything else is counted here."""
    _refuse_early(content, tally)
    text = content.text(MAX_EXPANDED).replace("\r\n", "\n").replace("\r", "\n")
    yield from _Walk(text, tally).pairs()


def nested_columns(content: Content, tally: Tally) -> Iterator[PairColumns]:
    """Yield the columns of a well-formed object of objects."""
    import numpy as np

    from assay.core.text_column import Texts
    from assay.formats.pair_columns import PairColumns, real_numbers, refuse_odd_ids

    if not content.head.lstrip().startswith(b"{"):
        raise NeedsCare
    _refuse_early(content, tally)
    try:
        value = json.loads(content.text(MAX_EXPANDED), object_pairs_hook=_unique, parse_constant=_odd)
    except (RecursionError, ValueError):
        raise NeedsCare from None
    if not isinstance(value, dict) or set(map(type, value.values())) - {dict}:
        raise NeedsCare
    doc_ids = [doc_id for documents in value.values() for doc_id in documents]
    if not doc_ids:
        raise NeedsCare
    refuse_odd_ids(list(value))
    refuse_odd_ids(doc_ids)
    values = real_numbers([one for documents in value.values() for one in documents.values()])
    places = np.repeat(np.arange(len(value)), list(map(len, value.values())))
    tally.read(len(value) + len(doc_ids))
    tally.put("header", len(value))
    tally.put("accepted", len(doc_ids))
    yield PairColumns(Texts.of(list(value)).take(places), Texts.of(doc_ids), values)


def _refuse_early(content: Content, tally: Tally) -> None:
    """Read the file's beginning first, so that a large file of the wrong format is refused early."""
    if not content.head.lstrip().startswith(b"{"):
        tally.refuse("does not begin with {, so it is not a JSON object")
    if len(content.head) < HEAD - LONGEST_WORD:
        return
    text = content.head.decode("utf-8", "replace")
    walk = _Walk(text, Tally(tally.path, tally.format, tally.expected))
    try:
        for _ in walk.pairs():
            pass
    except UnreadableInput:
        if walk.at < len(text) - LONGEST_WORD:
            raise


class _Walk:
    """Parser that reads a text key by key."""

    def __init__(self, text: str, tally: Tally) -> None:
        self.text, self.tally, self.at = text, tally, 0
        self._line, self._counted = 1, 0

    def pairs(self) -> Iterator[Entry]:
        known: dict[str, int] = {}
        for query_id, line in self._members():
            self.tally.read()
            if query_id in known:
                what = f"the query {query_id!r} appears twice, first on line {known[query_id]}"
                self._reject("E20", line, what, "put all its documents into one object", query_id)
            elif self._mark() != "{":
                self._reject("E23", line, f"the query {query_id!r} is not followed by an object", "", query_id)
            else:
                known[query_id] = line
                self.tally.put("header")
                yield from self._documents(query_id)
        self._space()
        if self.at < len(self.text):
            self._broken("unexpected text after the object")

    def _documents(self, query_id: str) -> Iterator[Entry]:
        for doc_id, line in self._members():
            self.tally.read()
            begin = self.at
            value = self._value()
            where = f"{query_id} / {doc_id}"
            raw = f"{where}: {self.text[begin : min(self.at, begin + 100)]}"
            yield Entry(line, query_id, doc_id, value, raw=raw, where=where)

    def _members(self) -> Iterator[tuple[str, int]]:
        """Yield (key, line) of an object; the caller reads the value before the next key."""
        self._take("{")
        if self._mark() == "}":
            self.at += 1
            return
        while True:
            if self._mark() != '"':
                self._broken("a key in quotation marks is missing")
            line = self._line_here()
            key = str(self._value())
            self._take(":")
            self._space()
            yield key, line
            if self._take(",}") == "}":
                return

    def _value(self) -> object:
        try:
            value, self.at = _DECODER.raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            self._broken(f"{error.msg} in column {error.colno}", error.lineno)
        except RecursionError:
            self._broken("nested too deeply")
        except ValueError:
            # Python refuses to read whole numbers of more than 4,300 digits.
            self._broken("a number with thousands of digits")
        return value

    def _reject(self, code: str, line: int, what: str, fix: str, where: str) -> None:
        begin = self.at
        self._value()
        raw = self.text[begin : min(self.at, begin + 100)]
        self.tally.reject(code, line, what, fix=fix or self.tally.expected, raw=raw, column=where)

    def _space(self) -> None:
        self.at = after_space(self.text, self.at)

    def _mark(self) -> str:
        self._space()
        return self.text[self.at : self.at + 1]

    def _take(self, marks: str) -> str:
        mark = self._mark()
        if not mark or mark not in marks:
            self._broken(f"{' or '.join(marks)} is missing")
        self.at += 1
        return mark

    def _line_here(self) -> int:
        self._line, self._counted = self._line + self.text.count("\n", self._counted, self.at), self.at
        return self._line

    def _broken(self, what: str, line: int | None = None) -> NoReturn:
        where = self.text.count("\n", 0, self.at) + 1 if line is None else line
        self.tally.refuse(f"JSON syntax error: {what}", line=where, code="F05")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    element = dict(pairs)
    if len(element) != len(pairs):
        raise NeedsCare
    return element


def _odd(_: str) -> float:
    raise NeedsCare
