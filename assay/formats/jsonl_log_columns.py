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

from assay.core.read_report import RowFault, Tally
from assay.formats.json_lines import parse
from assay.formats.log_blocks import LogBlock, LogTexts, as_written, careful_blocks, client_keys
from assay.formats.log_chunks import PlainLines, PlainLog
from assay.formats.log_rows import DOCUMENT_ID, LogBooks, Repeated
from assay.formats.row_types import LogRow
from assay.formats.text_lines import Content, numbered_lines
from assay.formats.timestamp_columns import usual_times

if TYPE_CHECKING:
    import polars

# A subset of strict JSON: unpaired surrogates and NUL can only appear as escapes.
_TEXT = r'(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?"
_SCALAR = rf'(?:"{_TEXT}"|{_NUMBER}|true|false|null)'
_LIST = rf"\[[ \t]*(?:{_SCALAR}(?:[ \t]*,[ \t]*{_SCALAR})*)?[ \t]*\]"
_GAP = "[ \\t]*"
_SUSPECT = r"\\u(?:0000|[dD][89a-fA-F])"
# Number of lines to try for a pattern.
TRIES = 100
# The fields of a search; clicks are read only if they are written again.
COLUMNS = ("query", "timestamp", "client_id", "language")


class NumberedLines:
    """Some lines of a file, for the reader of whole files."""

    def __init__(self, lines: Iterable[tuple[int, bytes]]) -> None:
        self._lines = lines

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number, text) without line ends."""
        return ((number, line.decode().removesuffix("\n")) for number, line in self._lines)


Parse = Callable[[NumberedLines, Tally, LogBooks], Iterator[LogRow]]


class ObjectLog(PlainLog):
    """State of one JSONL log while its parts are read."""

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
        """Return the keys under which each column is read."""
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
            matches = lines.str.extract_groups(self._pattern).struct.unnest()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        odd = self.is_odd(lines, matches).to_numpy().copy()
        if np.count_nonzero(odd) * 4 > len(odd):
            return None
        places = np.flatnonzero(~odd)
        present = [name for name in COLUMNS if name in matches.columns]
        columns = {name: _plain_texts(_column(matches, name).gather(places)) for name in present}
        ends = lines.str.len_bytes().to_numpy().astype(np.int64).cumsum() + np.arange(len(lines))
        moment, times = usual_times(columns.get("timestamp"), len(places))
        clients = client_keys(columns["client_id"]) if "client_id" in columns else None
        language = columns["language"].str.strip_chars(" \t") if "language" in columns else None
        written_texts = None
        if self.texts.written:
            clicks = _values(matches["clicks"].gather(places)) if "clicks" in matches.columns else None
            written_texts = as_written(columns.get("timestamp"), clicks, number=len(places))
        counts = matches["count"].gather(places).cast(pl.Int64).to_numpy() if "count" in matches.columns else None
        named = matches["clients"].gather(places).cast(pl.Int64).fill_null(0) if "clients" in matches.columns else None
        client_counts = None if named is None else named.to_numpy()
        query = columns["query"]
        return PlainLines(
            data, ends, odd, places, query, moment, times, clients, language, written_texts, counts, client_counts
        )

    def is_odd(self, lines: polars.Series, matches: polars.DataFrame) -> polars.Series:
        """Return which lines do not match the pattern, or may contain invalid text."""
        return matches["query"].is_null() | lines.str.contains(_SUSPECT)

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
    """Return the pattern of all lines with the same keys; nothing if the line is not a plain search."""
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
            # The key with the value can differ from line to line.
            return ""
        columns.update(dict.fromkeys(there, column))
    if "query" not in columns.values():
        return ""
    return f"^{_GAP}{_object(of, columns)}{_GAP}$"


def _may_be_no_search(of: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a line has ids of queries or documents but no time or client."""
    log_names = [name for column in ("timestamp", "client_id") for name in names.get(column, ())]
    if any(of.get(name) is not None for name in log_names):
        return False
    return any(name in names.get("query_id", ()) or name.casefold() in DOCUMENT_ID for name in of)


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
        # A number is used as its text; whole numbers have only one notation.
        return rf'(?:"(?P<{column}>{_TEXT})"|(?P<{column}_number>0|[1-9][0-9]{{0,17}})|null)'
    if isinstance(value, dict):
        return _object(value, {})
    return f"(?:{_LIST}|{_SCALAR})"


def _column(frame: polars.DataFrame, name: str) -> polars.Series:
    number = f"{name}_number"
    return frame[name].fill_null(frame[number]) if number in frame.columns else frame[name]


def _values(texts: polars.Series) -> polars.Series:
    """Return JSON values as the careful reader writes them, each distinct value once."""
    import polars as pl

    distinct = texts.unique().drop_nulls()
    values = [parse(text) for text in distinct]
    plain = pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)
    return texts.replace(distinct, plain)


def _plain_texts(texts: polars.Series) -> polars.Series:
    """Return the texts with their escapes resolved, each distinct text once."""
    escaped = texts.str.contains("\\", literal=True).fill_null(False)
    if not escaped.any():
        return texts
    distinct = texts.filter(escaped).unique().to_list()
    return texts.replace(distinct, [json.loads(f'"{text}"') for text in distinct])
