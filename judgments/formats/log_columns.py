"""How do the searches of a large CSV log become columns without looking at each?

Plain lines are split all at once (`plain_lines`); whatever is odd is handed, line by line, to the reader that says what
is wrong with it. One thread unpacks the file, one looks for plain lines in the next part, and one counts.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from judgments.core.report import MAX_LISTED, Tally
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
from judgments.formats.log_blocks import NO_TIME, LogBlock, LogTexts, block_of, careful_blocks, microseconds
from judgments.formats.log_books import LogBooks
from judgments.formats.plain_lines import PlainLines, plain_lines
from judgments.formats.query_texts import could_be_query
from judgments.formats.rows import LogRow
from judgments.formats.timestamps import time_kind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from judgments.formats.delimited import Columns

    Whole = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]
    Column = npt.NDArray[Any]

PIECE = 1 << 24
AHEAD = 2
# What is wrong with a text that cannot be a query.
FAULTY, BLANK = 1, 2


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
class _OddLines:
    """Lines that are records of their own, for the same reader."""

    lines: list[tuple[int, bytes]]
    carriage_return_line: int | None = None
    done: bool = False

    def lines_with_ends(self) -> Iterator[tuple[int, str]]:
        return ((number, line.decode()) for number, line in self.lines)


class _Piece(NamedTuple):
    """Part of a log, and what is found in it by a thread that looks at it meanwhile."""

    before: int
    data: bytes
    looked: Future[PlainLines | None] | None


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
        # For the text of each number: 0 for one that can be a query, filled up as texts come in.
        self.faulty = bytearray()

    def blocks(self, texts: LogTexts) -> Iterator[LogBlock]:
        self.texts = texts
        pieces = self._pieces()
        with ThreadPoolExecutor(1) as pool:
            pieces = chain(self._after_header(pieces), pieces)
            looked = self._looked(pieces, pool)
            more = ((piece.before, piece.data) for piece in looked)
            for piece in looked:
                yield from self._piece(piece, more)

    def _after_header(self, pieces: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """What stands in the first piece after the header, if that can be read by itself; else all of the piece."""
        for before, data in islice(pieces, 1):
            end = len(data) - len(data.lstrip(b"\n"))
            end = data.find(b"\n", end) + 1 or len(data)
            if b"\r" not in data and data.count(b'"', 0, end) % 2 == 0:
                # Blank lines and the header, which is the first record; there are no rows in this part.
                for _ in self._rows(_Lines(before, data[:end], iter(()))):
                    raise AssertionError("a header is no row")
                before, data = before + data.count(b"\n", 0, end), data[end:]
            if data:
                yield before, data

    def _looked(self, pieces: Iterator[tuple[int, bytes]], pool: ThreadPoolExecutor) -> Iterator[_Piece]:
        """The pieces, one of them always being looked at already."""
        waiting: deque[_Piece] = deque()
        for before, data in pieces:
            if not data.endswith((b"\n", b"\r")):
                data += b"\n"
            plain = self.header is not None and b"\r" not in data
            looked = pool.submit(plain_lines, data, self.header, self.delimiter) if plain and self.header else None
            waiting.append(_Piece(before, data, looked))
            if len(waiting) > 1:
                yield waiting.popleft()
        yield from waiting

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
        return _ahead(map(self._in_utf_8, self.content.pieces(PIECE)))

    def _in_utf_8(self, piece: tuple[int, bytes]) -> tuple[int, bytes]:
        before, data = piece
        if self.content.encoding != "utf-8":
            data = data.decode(self.content.encoding).encode()
        if b"\r" in data and data.count(b"\r") == data.count(b"\r\n"):
            data = data.replace(b"\r\n", b"\n")
        return before, data

    def _piece(self, piece: _Piece, more: Iterator[tuple[int, bytes]]) -> Iterator[LogBlock]:
        """Read one piece, fast where it is plain."""
        lines = piece.looked.result() if piece.looked else None
        found = None if lines is None else self._block(piece.before, lines)
        if found is None:
            yield from self._careful(piece.before, piece.data, more)
            return
        block, odd, empty = found
        # A file of which the first lines cannot be read is refused; a row that can be read counts before the odd ones.
        good_first = len(block) > 0 and (len(odd) < MAX_LISTED or int(block.line[0]) < odd[MAX_LISTED - 1][0])
        if good_first:
            self._accept(block)
        rows = list(self._rows(_OddLines(odd)))
        if not good_first:
            self._accept(block)
        self.tally.read(empty)
        self.tally.put("rejected", empty)
        self.tally.once("W50", None, "", done="", times=empty)
        yield _merged(block, block_of(rows, self.texts)) if rows else block

    def _accept(self, block: LogBlock) -> None:
        self.tally.read(len(block))
        self.tally.put("accepted", len(block))

    def _careful(self, before: int, data: bytes, more: Iterator[tuple[int, bytes]]) -> Iterator[LogBlock]:
        yield from careful_blocks(self._rows(_Lines(before, data, more)), self.texts)

    def _rows(self, lines: _Lines | _OddLines) -> Iterator[LogRow]:
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
                    of.get("language", ""),
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

    def _block(self, before: int, lines: PlainLines) -> tuple[LogBlock, list[tuple[int, bytes]], int] | None:
        """The searches of plain lines as a block, the other lines with their numbers, and how many more have no query;
        None where the kinds of time are mixed."""
        import numpy as np

        times = self._moments(lines)
        if times is None:
            return None
        moments, bad = times
        codes = self.texts.codes(lines.query)
        known = self.texts.known
        self.faulty.extend(
            [0 if could_be_query(text) else 1 + (not text.strip()) for text in known[len(self.faulty) :]]
        )
        # The bytes are copied: what is looked at cannot grow.
        fault = np.frombuffer(bytes(self.faulty), dtype=np.uint8)[codes]
        empty, good = fault == BLANK, (fault == 0) & ~bad
        odd = lines.odd.copy()
        odd[lines.places[~good]] = True
        # The first search without a query is told with its line; the others are only counted.
        first = int("W50" not in self.tally.codes)
        odd[lines.places[np.flatnonzero(empty)[first:]]] = False
        others = [(before + 1 + int(at), lines.line(int(at))) for at in np.flatnonzero(odd)]
        language = None if lines.language is None else self.texts.languages.codes(lines.language.fill_null(""))
        block = LogBlock(
            codes[good],
            moments[good],
            None if lines.client is None else lines.client[good],
            None,
            (before + 1 + lines.places)[good],
            None if language is None else language[good],
        )
        return block, others, max(0, int(empty.sum()) - first)

    def _moments(self, lines: PlainLines) -> tuple[Whole, Flags] | None:
        """Microseconds of each time, and which texts are no times; None where kinds of time are mixed."""
        import numpy as np

        moments = lines.moment
        bad = np.zeros(len(moments), dtype=np.bool_)
        kinds = {"iso"} if (moments != NO_TIME).any() else set()
        if lines.times is not None:
            moments = moments.copy()
            left = np.flatnonzero(lines.times.is_not_null().to_numpy())
            rest = lines.times.gather(left).str.strip_chars().to_list()
            meant = {text: _meaning(text) for text in set(rest)}
            moments[left] = [meant[text][1] for text in rest]
            bad[left] = [meant[text][0] == "" for text in rest]
            kinds |= {kind for kind, _ in meant.values() if kind not in ("", "none")}
        if self.books.kind is None:
            kinds |= self._kinds_before(lines, int(np.flatnonzero(moments != NO_TIME)[0]) if kinds else len(moments))
        if len(kinds) > 1 or not all(self.books.agrees(kind) for kind in kinds):
            return None
        return moments, bad

    def _kinds_before(self, lines: PlainLines, row: int) -> set[str]:
        """The kinds of time on odd lines before a row: the first time of a file says which kind all must be."""
        import numpy as np

        place = self.header.places.get("timestamp") if self.header else None
        end = int(lines.places[row]) if row < len(lines.places) else len(lines.odd)
        kinds = set()
        for at in np.flatnonzero(lines.odd[:end]) if place is not None else ():
            cells = next(csv.reader([lines.line(int(at)).decode()], delimiter=self.delimiter), [])
            kinds.add(time_kind(cells[place].strip()) if place is not None and place < len(cells) else None)
        return {kind for kind in kinds if kind}


def _meaning(text: str) -> tuple[str, int]:
    """The kind of a time and its microseconds: "none" for no text, "" for one that is no time."""
    if not text:
        return "none", NO_TIME
    kind = time_kind(text)
    return (kind, microseconds(text)) if kind else ("", NO_TIME)


def _merged(block: LogBlock, others: LogBlock) -> LogBlock:
    """Both in the order of the file; there are few others."""
    import numpy as np

    at = np.searchsorted(block.line, others.line)
    return LogBlock(
        np.insert(block.text, at, others.text),
        np.insert(block.moment, at, others.moment),
        _inserted(block.client, others.client, at, len(block), len(others)),
        None,
        np.insert(block.line, at, others.line),
        _inserted(block.language, others.language, at, len(block), len(others)),
    )


def _inserted(mine: Column | None, theirs: Column | None, at: Whole, size: int, number: int) -> Column | None:
    """A column of both, 0 where one of them has none."""
    known = mine if mine is not None else theirs
    if known is None:
        return None
    import numpy as np

    mine, theirs = (
        np.zeros(length, dtype=known.dtype) if part is None else part
        for part, length in ((mine, size), (theirs, number))
    )
    return np.insert(mine, at, theirs)


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
