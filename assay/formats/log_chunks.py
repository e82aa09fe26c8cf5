"""Pipeline of the fast log readers: unpack, scan and count the parts of a log in parallel.

Plain lines are parsed all at once (`PlainLines`); an odd line goes to the reader that reports its problem. One thread
decompresses the file, one scans the next part for plain lines, and one counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.core.read_report import MAX_LISTED, Tally
from assay.formats.log_blocks import NO_TIME, LogBlock, LogTexts, block_of, careful_blocks
from assay.formats.log_rows import LogBooks
from assay.formats.queries import could_be_query
from assay.formats.row_types import LogRow
from assay.formats.text_lines import Content
from assay.formats.timestamp_columns import other_times
from assay.formats.timestamps import family, time_kind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars

    Whole = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]
    Keys = npt.NDArray[np.uint64]
    Column = npt.NDArray[Any]

PIECE = 1 << 24
AHEAD = 2
# The fault of a text that is not a valid query.
FAULTY, BLANK = 1, 2


@dataclass(frozen=True, eq=False, slots=True)
class PlainLines:
    """The plain lines of a part as columns, and the positions of the others."""

    data: bytes
    ends: Whole
    odd: Flags
    places: Whole
    query: polars.Series
    moment: Whole
    times: polars.Series | None
    client: Keys | None
    language: polars.Series | None
    written: polars.DataFrame | None = None
    count: Whole | None = None
    clients: Whole | None = None

    def line(self, at: int) -> bytes:
        """Return the line at a position, with its end."""
        return line_at(self.data, self.ends, at)


def line_at(data: bytes, ends: Whole, at: int) -> bytes:
    """Return the line at a position, with its end."""
    return data[int(ends[at - 1]) + 1 if at else 0 : int(ends[at]) + 1]


class _Piece(NamedTuple):
    """Part of a log with the result of its scan by another thread."""

    before: int
    data: bytes
    looked: Future[PlainLines | None] | None


class PlainLog(ABC):
    """State of a log with one row per search; subclasses define how lines are read."""

    def __init__(self, content: Content, tally: Tally) -> None:
        self.content, self.tally = content, tally
        self.books = LogBooks(tally, None)
        # For each text number: 0 for a valid query; extended as texts are added.
        self.faulty = bytearray()

    @property
    @abstractmethod
    def ready(self) -> bool:
        """Return whether enough of the file was read for `look` to know the layout."""

    @property
    def waiting(self) -> bool:
        """Return whether the last line read affects the next one, which then needs the careful reader."""
        return False

    @abstractmethod
    def begin(self, pieces: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Read the lines before the first row; yield the rest of the first part."""

    @abstractmethod
    def look(self, data: bytes) -> PlainLines | None:
        """Scan a part for plain lines; called by another thread, so it counts nothing."""

    @abstractmethod
    def careful(self, before: int, data: bytes, more: Iterator[tuple[int, bytes]]) -> Iterator[LogRow]:
        """Read a part row by row; a record that does not end in it continues in the next one."""

    @abstractmethod
    def odd(self, lines: list[tuple[int, bytes]]) -> Iterator[LogRow]:
        """Read single-line records with their numbers."""

    @abstractmethod
    def time_on(self, line: bytes) -> str:
        """Return the time on an unusual line, or nothing."""

    def blocks(self, texts: LogTexts) -> Iterator[LogBlock]:
        """Yield the searches."""
        self.texts = texts
        pieces = self.pieces()
        with ThreadPoolExecutor(1) as pool:
            pieces = chain(self.begin(pieces), pieces)
            looked = self._looked(pieces, pool)
            more = ((piece.before, piece.data) for piece in looked)
            for piece in looked:
                yield from self._piece(piece, more)

    def _looked(self, pieces: Iterator[tuple[int, bytes]], pool: ThreadPoolExecutor) -> Iterator[_Piece]:
        """Yield the pieces; one of them is always being scanned in advance."""
        waiting: deque[_Piece] = deque()
        for before, data in pieces:
            if not data.endswith((b"\n", b"\r")):
                data += b"\n"
            looked = pool.submit(self.look, data) if self.ready and b"\r" not in data else None
            waiting.append(_Piece(before, data, looked))
            if len(waiting) > 1:
                yield waiting.popleft()
        yield from waiting

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """Yield pieces of the file in UTF-8, with LF line ends unless there are lone CRs."""
        return _ahead(map(self._in_utf_8, self.content.pieces(PIECE)))

    def _in_utf_8(self, piece: tuple[int, bytes]) -> tuple[int, bytes]:
        before, data = piece
        if self.content.encoding != "utf-8":
            data = data.decode(self.content.encoding).encode()
        if b"\r" in data and data.count(b"\r") == data.count(b"\r\n"):
            data = data.replace(b"\r\n", b"\n")
        return before, data

    def _piece(self, piece: _Piece, more: Iterator[tuple[int, bytes]]) -> Iterator[LogBlock]:
        """Read one piece, fast if it is plain."""
        lines = piece.looked.result() if piece.looked and not self.waiting else None
        block_parts = None if lines is None else self._block(piece.before, lines)
        if block_parts is None:
            yield from careful_blocks(self.careful(piece.before, piece.data, more), self.texts)
            return
        block, odd, empty = block_parts
        # A file whose first lines cannot be read is refused, so a readable row counts before the odd rows.
        good_first = len(block) > 0 and (len(odd) < MAX_LISTED or int(block.line[0]) < odd[MAX_LISTED - 1][0])
        if good_first:
            self._accept(block)
        rows = list(self.odd(odd))
        if not good_first:
            self._accept(block)
        self.tally.read(empty)
        self.tally.put("rejected", empty)
        self.tally.once("W50", None, "", done="", times=empty)
        yield _merged(block, block_of(rows, self.texts)) if rows else block

    def _accept(self, block: LogBlock) -> None:
        self.tally.read(len(block))
        self.tally.put("accepted", len(block))

    def _block(self, before: int, lines: PlainLines) -> tuple[LogBlock, list[tuple[int, bytes]], int] | None:
        """Return the searches of plain lines as a block, the other lines with their numbers, and how many more have no
        query; None if the kinds of time are mixed."""
        import numpy as np

        codes = self.texts.codes(lines.query)
        known = self.texts.known
        self.faulty.extend(
            [0 if could_be_query(text) else 1 + (not text.strip()) for text in known[len(self.faulty) :]]
        )
        # The bytes are copied, because a buffer with views cannot grow.
        fault = np.frombuffer(bytes(self.faulty), dtype=np.uint8)[codes]
        times = self._moments(before, lines, fault == 0)
        if times is None:
            return None
        moments, bad = times
        # A count without a query is an error, but a search without a query is not.
        empty, good = (fault == BLANK) & (lines.count is None), (fault == 0) & ~bad
        odd = lines.odd.copy()
        odd[lines.places[~good]] = True
        # The first search without a query is reported with its line; the others are only counted.
        first = int("W50" not in self.tally.codes)
        odd[lines.places[np.flatnonzero(empty)[first:]]] = False
        others = [(before + 1 + int(at), lines.line(int(at))) for at in np.flatnonzero(odd)]
        language = None if lines.language is None else self.texts.languages.codes(lines.language.fill_null(""))
        block = LogBlock(
            codes[good],
            moments[good],
            None if lines.client is None else lines.client[good],
            None if lines.count is None else lines.count[good],
            (before + 1 + lines.places)[good],
            None if language is None else language[good],
            None if lines.written is None else lines.written.filter(good),
            None if lines.clients is None else lines.clients[good],
        )
        return block, others, max(0, int(empty.sum()) - first)

    def _moments(self, before: int, lines: PlainLines, read: Flags) -> tuple[Whole, Flags] | None:
        """Return the microseconds of each time, and which texts are not times; None if the kinds of time are mixed.
        Only rows that are `read` determine the kinds of time in the file.
        """
        import numpy as np

        moments = lines.moment
        bad = np.zeros(len(moments), dtype=np.bool_)
        usual = (moments != NO_TIME) & read
        first = {"iso": int(np.argmax(usual))} if usual.any() else {}
        if lines.times is not None:
            moments = moments.copy()
            left = np.flatnonzero(lines.times.is_not_null().to_numpy() & read)
            moments[left], bad[left], others = other_times(lines.times.gather(left))
            for kind, place in others.items():
                first[kind] = min(int(left[place]), first.get(kind, len(moments)))
        kinds = {kind: before + 1 + int(lines.places[row]) for kind, row in first.items()}
        if self.books.family is None:
            families = {family(kind) for kind in first}
            families |= self._families_before(lines, min(first.values(), default=len(moments)))
            if len(families) > 1:
                return None
        return (moments, bad) if self.books.agrees(kinds) else None

    def _families_before(self, lines: PlainLines, row: int) -> set[str]:
        """Yield the times on unusual lines before a row; the first time determines the kind of all times."""
        import numpy as np

        end = int(lines.places[row]) if row < len(lines.places) else len(lines.odd)
        kinds = {time_kind(self.time_on(lines.line(int(at)))) for at in np.flatnonzero(lines.odd[:end])}
        return {family(kind) for kind in kinds if kind}


def _merged(block: LogBlock, others: LogBlock) -> LogBlock:
    """Merge both blocks in the order of the file."""
    import numpy as np

    at = np.searchsorted(block.line, others.line)
    return LogBlock(
        np.insert(block.text, at, others.text),
        np.insert(block.moment, at, others.moment),
        _inserted(block.client, others.client, at, len(block), len(others)),
        _inserted(block.count, others.count, at, len(block), len(others), missing=1),
        np.insert(block.line, at, others.line),
        _inserted(block.language, others.language, at, len(block), len(others)),
        _both_written(block, others, at),
        _inserted(block.clients, others.clients, at, len(block), len(others)),
    )


def _both_written(block: LogBlock, others: LogBlock, at: Whole) -> polars.DataFrame | None:
    if block.written is None or others.written is None:
        return None
    import numpy as np

    order = np.insert(np.arange(len(block)), at, np.arange(len(others)) + len(block))
    return block.written.vstack(others.written)[order]


def _inserted(
    mine: Column | None, theirs: Column | None, at: Whole, size: int, number: int, *, missing: int = 0
) -> Column | None:
    """Merge a column of both blocks, padded if one of them lacks it."""
    known = mine if mine is not None else theirs
    if known is None:
        return None
    import numpy as np

    mine, theirs = (
        np.full(length, missing, dtype=known.dtype) if part is None else part
        for part, length in ((mine, size), (theirs, number))
    )
    return np.insert(mine, at, theirs)


def _ahead(pieces: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the pieces, read by a separate thread in advance."""
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
