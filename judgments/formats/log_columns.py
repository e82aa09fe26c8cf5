"""How do the searches of a large CSV log become columns without looking at each?

Lines without quotes and with the right number of separators are split by polars, all of a piece at once; whatever is
odd is handed, line by line, to the reader that says what is wrong with it.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING

from judgments.core.report import Tally
from judgments.formats.decoding import LINES_WITH_ENDS, MAX_LINE, Content
from judgments.formats.delimited import (
    Header,
    Record,
    check_mapping,
    named_cells,
    read_header,
    records,
    usual_delimiter,
)
from judgments.formats.log_blocks import (
    NO_TIME,
    LogBlock,
    LogTexts,
    block_of,
    careful_blocks,
    client_keys,
    microseconds,
)
from judgments.formats.log_books import LogBooks
from judgments.formats.query_texts import query_fault
from judgments.formats.rows import LogRow
from judgments.formats.timestamps import time_kind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars

    from judgments.formats.delimited import Columns

    Whole = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

PIECE = 1 << 24
AHEAD = 2
USUAL_TIME = "%Y-%m-%dT%H:%M:%SZ"
USUAL_LENGTH = 20


def csv_blocks(
    content: Content,
    tally: Tally,
    texts: LogTexts,
    *,
    known: Columns,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Iterator[LogBlock] | None:
    """Yield the searches of a log with one row for each; None for a counted log, which has to be read whole.

    Parameters
    ----------
    content, tally, texts : Content, Tally, LogTexts
        The input, its books, and what was typed so far.
    known : Columns
        What the format reads.
    columns, delimiter
        As for the format's reader.

    Raises
    ------
    UnreadableInput
        As `judgments.formats.delimited.read_table`.
    """
    log = _opened(content, tally, known, columns or {}, delimiter)
    return None if log is None else log.blocks(texts)


def csv_rows(
    content: Content,
    tally: Tally,
    *,
    known: Columns,
    lines: set[int],
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Iterator[LogRow] | None:
    """Yield the rows on the given lines of a log with one row for each search; None for a counted log.

    Parameters
    ----------
    content, tally, known, columns, delimiter
        As for `csv_blocks`.
    lines : set of int
        The lines on which the rows begin; others are passed over without being read.
    """
    log = _opened(content, tally, known, columns or {}, delimiter)
    return None if log is None else log.rows_on(lines)


def _opened(
    content: Content, tally: Tally, known: Columns, columns: Mapping[str, str], delimiter: str | None
) -> _Log | None:
    check_mapping(columns, known)
    chosen = delimiter or usual_delimiter(content)
    names = [name.strip().strip('"').casefold() for name in _first_line(content).split(chosen)]
    if columns.get("count", "count").casefold() in names:
        return None
    return _Log(content, tally, known, columns, chosen, bool(delimiter))


def _first_line(content: Content) -> str:
    return content.head.decode("utf-8", "replace").replace("\r", "\n").lstrip("\n").partition("\n")[0]


@dataclass(eq=False)
class _Lines:
    """Part of a log, line by line, for the reader that takes care; `done` says that it is used up.

    A record that does not end in this part goes on in the next one, which is then read with care too.
    """

    before: int
    data: bytes
    more: Iterator[tuple[int, bytes]]
    carriage_return_line: int | None = None
    done: bool = False

    def lines_with_ends(self) -> Iterator[tuple[int, str]]:
        piece: tuple[int, bytes] | None = (self.before, self.data)
        while piece is not None:
            number, data = piece
            text = data.decode()
            self.done = False
            for match in LINES_WITH_ENDS.finditer(text):
                number += 1
                self.done = match.end() == len(text)
                yield number, match.group()
            piece = next(self.more, None)


@dataclass(eq=False)
class _Log:
    """One log while its pieces go by."""

    content: Content
    tally: Tally
    known: Columns
    mapping: Mapping[str, str]
    delimiter: str
    delimiter_given: bool

    header: Header | None = None

    def __post_init__(self) -> None:
        self.books = LogBooks(self.tally, None)
        # Whether a text of this number cannot be a query, filled up as texts come in.
        self.faulty = bytearray()

    def blocks(self, texts: LogTexts) -> Iterator[LogBlock]:
        self.texts = texts
        pieces = self._pieces()
        for before, data in pieces:
            if self.header is None and b"\r" not in data:
                end = len(data) - len(data.lstrip(b"\n"))
                end = data.find(b"\n", end) + 1 or len(data)
                if data.count(b'"', 0, end) % 2 == 0:
                    # Blank lines and the header, which is the first record; there are no rows in this part.
                    yield from self._careful(before, data[:end], iter(()))
                    before, data = before + data.count(b"\n", 0, end), data[end:]
            if data:
                yield from self._piece(before, data, pieces)

    def rows_on(self, lines: set[int]) -> Iterator[LogRow]:
        import numpy as np

        wanted = sorted(lines)
        pieces = self._pieces()
        for before, data in pieces:
            if self.header is None:
                first = next(records(_Lines(before, data, pieces), self.tally, self.delimiter), None)
                self.header = None if first is None else self._read_header(first)
            if b"\r" in data:
                yield from self._rows(_Lines(before, data, pieces))
                continue
            ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
            for number in wanted[bisect_right(wanted, before) : bisect_right(wanted, before + len(ends) + 1)]:
                begin = int(ends[number - before - 2]) + 1 if number > before + 1 else 0
                yield from islice(self._rows(_Lines(number - 1, data[begin : begin + MAX_LINE], pieces)), 1)

    def _pieces(self) -> Iterator[tuple[int, bytes]]:
        """Pieces of the file in UTF-8, with LF at the ends of lines unless there are lone CRs."""
        for before, data in _ahead(self.content.pieces(PIECE)):
            if self.content.encoding != "utf-8":
                data = data.decode(self.content.encoding).encode()
            if b"\r" in data and data.count(b"\r") == data.count(b"\r\n"):
                data = data.replace(b"\r\n", b"\n")
            yield before, data

    def _piece(self, before: int, data: bytes, more: Iterator[tuple[int, bytes]]) -> Iterator[LogBlock]:
        """Read one piece, fast where it is plain."""
        if not data.endswith(b"\n"):
            data += b"\n"
        found = None if self.header is None or b"\r" in data else self._columns(before, data, self.header)
        if found is None:
            yield from self._careful(before, data, more)
            return
        block, odd = found
        rows = [row for number, line in odd for row in self._rows(_Lines(number - 1, line, iter(())))]
        self.tally.read(len(block))
        self.tally.put("accepted", len(block))
        yield _merged(block, block_of(rows, self.texts)) if rows else block

    def _careful(self, before: int, data: bytes, more: Iterator[tuple[int, bytes]]) -> Iterator[LogBlock]:
        yield from careful_blocks(self._rows(_Lines(before, data, more)), self.texts)

    def _rows(self, lines: _Lines) -> Iterator[LogRow]:
        for record in records(lines, self.tally, self.delimiter):
            if self.header is None:
                self.header = self._read_header(record)
            elif (cells := named_cells(record, self.header, self.tally, self.known)) is not None:
                of = cells.of
                yield from self.books.take(
                    of["query"],
                    None,
                    of.get("timestamp", ""),
                    of.get("client_id", ""),
                    of.get("clicks", ""),
                    line=cells.line,
                    raw=cells.raw,
                    bin="repaired" if cells.repaired else "accepted",
                )
            if lines.done:
                return

    def _read_header(self, record: Record) -> Header:
        if self.delimiter != "," and not self.delimiter_given:
            what = f"cells are separated by {self.delimiter!r}"
            self.tally.once("W46", record.line, what, done="read that way")
        return read_header(record, self.tally, self.known, self.mapping)

    def _columns(self, before: int, data: bytes, header: Header) -> tuple[LogBlock, list[tuple[int, bytes]]] | None:
        """The plain lines of a piece as a block, and the others with their numbers; None where it needs care."""
        import numpy as np

        ends, odd = _odd_lines(data, self.delimiter.encode(), len(header.names))
        if np.count_nonzero(odd) * 4 > len(odd) or not _stand_alone(data, ends, odd, self.delimiter):
            return None
        plain = np.flatnonzero(~odd)
        frame = _split(_without(data, ends, odd), header, self.delimiter)
        if frame.height != len(plain):
            return None
        codes = self.texts.codes(frame["query"])
        self.faulty.extend(query_fault(text) is not None for text in self.texts.known[len(self.faulty) :])
        # The bytes are copied: what is looked at cannot grow.
        good = np.frombuffer(bytes(self.faulty), dtype=np.uint8)[codes] == 0
        times = self._moments(frame["timestamp"]) if "timestamp" in frame.columns else None
        if times is not None and times[1] is None:
            return None
        moments = np.full(len(plain), NO_TIME) if times is None else times[0]
        if times is not None and times[1] is not None:
            good &= ~times[1]
        clients = client_keys(frame["client_id"]) if "client_id" in frame.columns else None
        odd[plain[~good]] = True
        lines = (before + 1 + plain)[good]
        block = LogBlock(codes[good], moments[good], None if clients is None else clients[good], None, lines)
        return block, [(before + 1 + int(at), _line(data, ends, int(at))) for at in np.flatnonzero(odd)]

    def _moments(self, texts: polars.Series) -> tuple[Whole, Flags | None]:
        """Microseconds of each text, and which texts are no times; None for these where kinds of time are mixed."""
        import numpy as np

        unusual = texts.str.len_bytes() != USUAL_LENGTH
        usual = texts.set(unusual, None) if unusual.any() else texts
        parsed = usual.str.to_datetime(USUAL_TIME, time_unit="us", strict=False)
        moments: Whole = parsed.to_physical().fill_null(NO_TIME).to_numpy().copy()
        bad = np.zeros(len(moments), dtype=np.bool_)
        left = np.flatnonzero((parsed.is_null() & texts.is_not_null()).to_numpy())
        kinds = {"iso"} if parsed.null_count() < len(parsed) else set()
        if len(left):
            rest = texts.gather(left).str.strip_chars().to_list()
            meant = {text: _meaning(text) for text in set(rest)}
            moments[left] = [meant[text][1] for text in rest]
            bad[left] = [meant[text][0] == "" for text in rest]
            kinds |= {kind for kind, _ in meant.values() if kind not in ("", "none")}
        if len(kinds) > 1 or not all(self.books.agrees(kind) for kind in kinds):
            return moments, None
        return moments, bad


def _meaning(text: str) -> tuple[str, int]:
    """The kind of a time and its microseconds: "none" for no text, "" for one that is no time."""
    if not text:
        return "none", NO_TIME
    kind = time_kind(text)
    return (kind, microseconds(text)) if kind else ("", NO_TIME)


def _odd_lines(data: bytes, delimiter: bytes, width: int) -> tuple[Whole, Flags]:
    """Where each line ends, and whether it has quotes, another number of cells, or an apostrophe before a cell."""
    import numpy as np

    letters = np.frombuffer(data, dtype=np.uint8)
    marks = np.flatnonzero((letters == ord(delimiter)) | (letters == ord("\n")))
    last = np.flatnonzero(letters[marks] == ord("\n"))
    ends = marks[last]
    odd = np.diff(last, prepend=-1) != width
    if width == 1:
        odd |= np.diff(ends, prepend=-1) == 1
    if b'"' in data:
        odd[np.searchsorted(ends, np.flatnonzero(letters == ord('"')))] = True
    if b"'" in data:
        found = np.flatnonzero(letters == ord("'"))
        in_front = (found == 0) | np.isin(letters[found - 1], [ord(delimiter), ord("\n")])
        odd[np.searchsorted(ends, found[in_front])] = True
    return ends, odd


def _line(data: bytes, ends: Whole, at: int) -> bytes:
    return data[int(ends[at - 1]) + 1 if at else 0 : int(ends[at]) + 1]


def _stand_alone(data: bytes, ends: Whole, odd: Flags, delimiter: str) -> bool:
    """Whether each odd line is a record of its own: no quotes go on into the next line."""
    import numpy as np

    for at in np.flatnonzero(odd):
        line = _line(data, ends, int(at))
        if b'"' in line:
            try:
                next(csv.reader([line.decode()], delimiter=delimiter, strict=True), None)
            except csv.Error:
                return False
    return True


def _without(data: bytes, ends: Whole, odd: Flags) -> bytes:
    import numpy as np

    parts, begin = [], 0
    for at in np.flatnonzero(odd):
        parts.append(data[begin : int(ends[at - 1]) + 1 if at else 0])
        begin = int(ends[at]) + 1
    return b"".join([*parts, data[begin:]]) if parts else data


def _split(data: bytes, header: Header, delimiter: str) -> polars.DataFrame:
    """The columns that are needed, as texts; an empty query is an empty text, other empty cells are null."""
    import polars as pl

    places = {column: place for column, place in header.places.items() if column != "clicks"}
    if not data:
        return pl.DataFrame(schema=dict.fromkeys(places, pl.String))
    frame = pl.read_csv(
        data,
        has_header=False,
        separator=delimiter,
        quote_char=None,
        schema={str(place): pl.String for place in range(len(header.names))},
        columns=sorted(places.values()),
        low_memory=False,
    )
    return frame.select(**{column: pl.col(str(place)) for column, place in places.items()}).with_columns(
        pl.col("query").fill_null("")
    )


def _merged(block: LogBlock, others: LogBlock) -> LogBlock:
    """Both in the order of the file; there are few others."""
    import numpy as np

    at = np.searchsorted(block.line, others.line)
    clients = None
    if block.client is not None or others.client is not None:
        none = [np.zeros(len(part), dtype=np.uint64) for part in (block, others)]
        mine, theirs = (
            empty if part.client is None else part.client for part, empty in zip((block, others), none, strict=True)
        )
        clients = np.insert(mine, at, theirs)
    return LogBlock(
        np.insert(block.text, at, others.text),
        np.insert(block.moment, at, others.moment),
        clients,
        None,
        np.insert(block.line, at, others.line),
    )


def _ahead(pieces: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The same, unpacked by a thread of its own while the piece before is worked on."""
    waiting: Queue[tuple[int, bytes] | BaseException | None] = Queue(AHEAD)
    stopped = Event()

    def put(piece: tuple[int, bytes] | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return waiting.put(piece, timeout=0.1)
            except Full:
                continue

    def work() -> None:
        try:
            for piece in pieces:
                put(piece)
                if stopped.is_set():
                    return
            put(None)
        except BaseException as error:
            put(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while (piece := waiting.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        stopped.set()
        thread.join()
