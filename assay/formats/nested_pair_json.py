"""Entries of ``{query: {document: number}}`` JSON, each with its line, and duplicate keys reported.

The standard parser keeps the last of two equal keys and records no lines. It still reads well-formed files, with a
check of every key; for all other files this module parses the text key by key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from assay.core.errors import UnreadableInput
from assay.core.read_report import Tally
from assay.formats.pair_entries import Entry
from assay.formats.reader import NeedsCare
from assay.formats.text_lines import HEAD, MAX_EXPANDED, Content

if TYPE_CHECKING:
    from assay.formats.pair_columns import PairColumns

# A token that is cut off at the end of the head is not a reason to refuse the file.
LONGEST_WORD = 8_192

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


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
    """Read the file's beginning first, so that a wrong file of 200 MB is refused early."""
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
            self._broken("there is text after the object")

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
            self._broken("a number of thousands of digits")
        return value

    def _reject(self, code: str, line: int, what: str, fix: str, where: str) -> None:
        begin = self.at
        self._value()
        raw = self.text[begin : min(self.at, begin + 100)]
        self.tally.reject(code, line, what, fix=fix or self.tally.expected, raw=raw, column=where)

    def _space(self) -> None:
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]

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
