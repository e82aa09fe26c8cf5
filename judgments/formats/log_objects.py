"""Fast reader of large JSONL query logs, as columns instead of single objects.

Programs write the same keys in the same order on each line. The first readable line becomes a pattern, and all
lines that match it are parsed at once: their keys are known, and their values are texts and numbers that need no
further check. Any other line goes to the row-by-row reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgments.core.report import Tally
from judgments.formats.decoding import Content, numbered_lines
from judgments.formats.grades import RowFault
from judgments.formats.json_lines import parse
from judgments.formats.log_blocks import LogBlock, LogTexts, as_written, careful_blocks, client_keys
from judgments.formats.log_books import DOCUMENT_ID, LogBooks, Repeated
from judgments.formats.log_pieces import PlainLog
from judgments.formats.log_times import usual_times
from judgments.formats.plain_lines import PlainLines
from judgments.formats.rows import LogRow

if TYPE_CHECKING:
    import polars

# Strict JSON, and less than all of it: half a surrogate pair and NUL can only come as an escape.
_TEXT = r'(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?"
_SCALAR = rf'(?:"{_TEXT}"|{_NUMBER}|true|false|null)'
_LIST = rf"\[[ \t]*(?:{_SCALAR}(?:[ \t]*,[ \t]*{_SCALAR})*)?[ \t]*\]"
_GAP = "[ \\t]*"
_SUSPECT = r"\\u(?:0000|[dD][89a-fA-F])"
# How many lines are tried for a pattern.
TRIES = 100
# What is read of a search; what was clicked only where it is to be written again.
COLUMNS = ("query", "timestamp", "client_id", "language")


class NumberedLines:
    """Some lines of a file, for the reader of whole files."""

    def __init__(self, lines: Iterable[tuple[int, bytes]]) -> None:
        self._lines = lines

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number, text), the line's end taken off."""
        return ((number, line.decode().removesuffix("\n")) for number, line in self._lines)


Parse = Callable[[NumberedLines, Tally, LogBooks], Iterator[LogRow]]


class ObjectLog(PlainLog):
    """One JSONL log while its parts go by.

    Parameters
    ----------
    content, tally : Content, Tally
        The input and its books.
    names : mapping of str to tuple of str
        Under which keys each column is looked for, the first that has a value.
    parse : callable
        The reader that takes care.
    without : tuple of str
        Keys that no plain search has.
    repeated : {"sum", "max", "first", "each"}, optional
        As for `LogBooks`, should counted queries stand among the searches; with ``each`` they are plain lines, too.
    """

    def __init__(
        self,
        content: Content,
        tally: Tally,
        names: Mapping[str, tuple[str, ...]],
        parse: Parse,
        *,
        without: tuple[str, ...] = (),
        repeated: Repeated | None = None,
    ) -> None:
        super().__init__(content, tally)
        self.books = LogBooks(tally, repeated)
        self._names, self._parse, self._without = names, parse, without
        self._counts = repeated == "each"
        self._pattern = ""

    def blocks(self, texts: LogTexts) -> Iterator[LogBlock]:
        yield from super().blocks(texts)
        yield from careful_blocks(self.books.counted(), texts)

    @property
    def _read(self) -> dict[str, tuple[str, ...]]:
        """Under which keys to look for what is read."""
        more = ("clicks",) * self.texts.written + ("count", "clients") * self._counts
        return {column: self._names.get(column, ()) for column in COLUMNS + more}

    @property
    def ready(self) -> bool:
        return bool(self._pattern)

    def begin(self, pieces: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        for before, data in pieces:
            for line in data.split(b"\n", TRIES)[:TRIES]:
                if not self._pattern:
                    self._pattern = _pattern_like(line, self._read, self._without, self._names)
            yield before, data
            return

    def look(self, data: bytes) -> PlainLines | None:
        import numpy as np
        import polars as pl

        lines = pl.Series([data.decode().removesuffix("\n")]).str.split("\n").explode()
        try:
            found = lines.str.extract_groups(self._pattern).struct.unnest()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        odd = self.is_odd(lines, found).to_numpy().copy()
        if np.count_nonzero(odd) * 4 > len(odd):
            return None
        places = np.flatnonzero(~odd)
        columns = {name: _plain_texts(_column(found, name).gather(places)) for name in COLUMNS if name in found.columns}
        ends = lines.str.len_bytes().to_numpy().astype(np.int64).cumsum() + np.arange(len(lines))
        moment, times = usual_times(columns.get("timestamp"), len(places))
        clients = client_keys(columns["client_id"]) if "client_id" in columns else None
        language = columns["language"].str.strip_chars(" \t") if "language" in columns else None
        told = None
        if self.texts.written:
            clicks = _values(found["clicks"].gather(places)) if "clicks" in found.columns else None
            told = as_written(columns.get("timestamp"), clicks, number=len(places))
        counts = found["count"].gather(places).cast(pl.Int64).to_numpy() if "count" in found.columns else None
        named = found["clients"].gather(places).cast(pl.Int64).fill_null(0) if "clients" in found.columns else None
        asked_by = None if named is None else named.to_numpy()
        query = columns["query"]
        return PlainLines(data, ends, odd, places, query, moment, times, clients, language, told, counts, asked_by)

    def is_odd(self, lines: polars.Series, found: polars.DataFrame) -> polars.Series:
        """Which lines are not like the pattern, or may hold what no text can."""
        return found["query"].is_null() | lines.str.contains(_SUSPECT)

    def careful(self, before: int, data: bytes, more: Iterator[tuple[int, bytes]]) -> Iterator[LogRow]:
        lines = ((before + number, text.encode()) for number, text in numbered_lines(data))
        return self._parse(NumberedLines(lines), self.tally, self.books)

    def odd(self, lines: list[tuple[int, bytes]]) -> Iterator[LogRow]:
        return self._parse(NumberedLines(lines), self.tally, self.books)

    def time_on(self, line: bytes) -> str:
        try:
            value = parse(line.decode())
        except RowFault:
            return ""
        of = value if isinstance(value, dict) else {}
        return str(next((of[name] for name in self._names["timestamp"] if of.get(name) is not None), "")).strip()


def _pattern_like(
    line: bytes,
    names: Mapping[str, tuple[str, ...]],
    without: tuple[str, ...],
    every: Mapping[str, tuple[str, ...]],
) -> str:
    """The pattern of all lines with the keys of this one; nothing where it is no plain search."""
    try:
        of = parse(line.decode())
    except RowFault:
        return ""
    if not isinstance(of, dict) or any(name in of for name in without) or _may_be_no_search(of, every):
        return ""
    columns: dict[str, str] = {}
    for column, known in names.items():
        there = [name for name in known if name in of]
        if len(there) > 1:
            # Which of two keys has the value can differ from line to line.
            return ""
        columns.update(dict.fromkeys(there, column))
    if "query" not in columns.values():
        return ""
    return f"^{_GAP}{_object(of, columns)}{_GAP}$"


def _may_be_no_search(of: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether ids of queries or documents stand there without a time or a client: a list of queries, or pairs."""
    told = any(of.get(name) is not None for column in ("timestamp", "client_id") for name in names.get(column, ()))
    return not told and any(name in names.get("query_id", ()) or name.casefold() in DOCUMENT_ID for name in of)


def _object(of: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    pairs = [f"{_key(key)}{_GAP}:{_GAP}{_value(value, columns.get(key, ''))}" for key, value in of.items()]
    return rf"\{{{_GAP}" + f"{_GAP},{_GAP}".join(pairs) + rf"{_GAP}\}}"


def _key(key: str) -> str:
    return "(?:" + "|".join(sorted({re.escape(json.dumps(key, ensure_ascii=each)) for each in (True, False)})) + ")"


def _value(value: Any, column: str) -> str:
    if column == "query":
        return f'"(?P<query>{_TEXT})"'
    if column == "count":
        return "(?P<count>[1-9][0-9]{0,8})"
    if column == "clients":
        return "(?:(?P<clients>0|[1-9][0-9]{0,14})|null)"
    if column == "clicks":
        return f"(?P<clicks>{_value(value, '')})"
    if column:
        # A number is the text that it is written as: whole, so that there is one way to write it.
        return rf'(?:"(?P<{column}>{_TEXT})"|(?P<{column}_number>0|[1-9][0-9]{{0,17}})|null)'
    if isinstance(value, dict):
        return _object(value, {})
    return f"(?:{_LIST}|{_SCALAR})"


def _column(found: polars.DataFrame, name: str) -> polars.Series:
    number = f"{name}_number"
    return found[name].fill_null(found[number]) if number in found.columns else found[name]


def _values(texts: polars.Series) -> polars.Series:
    """Any values, read from their JSON and written as the reader that takes care does, each distinct one once."""
    import polars as pl

    distinct = texts.unique().drop_nulls()
    values = [parse(text) for text in distinct]
    plain = pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)
    return texts.replace(distinct, plain)


def _plain_texts(texts: polars.Series) -> polars.Series:
    """The texts with their escapes resolved, each distinct one once."""
    escaped = texts.str.contains("\\", literal=True).fill_null(False)
    if not escaped.any():
        return texts
    distinct = texts.filter(escaped).unique().to_list()
    return texts.replace(distinct, [json.loads(f'"{text}"') for text in distinct])
