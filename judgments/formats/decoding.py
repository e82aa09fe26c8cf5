"""How do the bytes of a file become numbered lines of text, without guessing and without holding the file?

Content decides, not the file's name: gzip is known by its first two bytes. UTF-8 is read strictly. Lines end at LF,
CRLF or a lone CR and nowhere else (``str.splitlines`` would also cut at form feeds and Unicode separators).
"""

from __future__ import annotations

import hashlib
import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from judgments.core.errors import UnreadableInput

Source = Path | str | bytes | BinaryIO

BLOCK = 1 << 20
HEAD = 1 << 16
MAX_LINE = 1 << 24
MAX_EXPANDED = 1 << 31
MAX_TEXT = 1 << 29
MAX_RATIO = 250
RATIO_MATTERS_FROM = 100 << 20

LZ4 = b"\x04\x22\x4d\x18"
PLAIN = "expected plain text in UTF-8, or that text compressed with gzip"
BINARY = {b"PK\x03\x04": "a zip archive", LZ4: "an LZ4 file, as ranx writes runs"}
REMEDY = {LZ4: "unpack it (lz4 -d), or write the run as JSON or Parquet (in ranx: run.save('run.json')), and take that"}

LINES_WITH_ENDS = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def kept(source: Source) -> Path | str | bytes:
    """Return something that can be read more than once: what flows by (a stream, a pipe) is read here.

    Whoever looks at a file before reading it needs that; of a pipe the second look would see only the rest.

    Examples
    --------
    >>> kept(io.BytesIO(b"q1 0 d1 1")), kept(b"q1 0 d1 1")
    (b'q1 0 d1 1', b'q1 0 d1 1')
    """
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str | Path):
        return source.read()
    if str(source) == "-":
        return sys.stdin.buffer.read()
    return Path(source).read_bytes() if Path(source).is_fifo() else source


class _Counted(io.RawIOBase):
    """The bytes as they were given, counted while they pass, and hashed where somebody will ask for it."""

    def __init__(self, inner: BinaryIO, hashed: bool) -> None:
        self._inner = inner
        # A stream that was handed in may have inherited a readinto that it does not mean.
        fills = isinstance(inner, io.BufferedReader | io.FileIO | io.BytesIO)
        self._fill: Callable[[memoryview], int] = inner.readinto if fills else self._copied  # type: ignore[attr-defined]
        self.hash = hashlib.sha256() if hashed else None
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        size = self._fill(view) or 0
        if self.hash is not None:
            self.hash.update(view[:size])
        self.size += size
        return size

    def _copied(self, view: memoryview) -> int:
        """For a stream that has nothing but ``read``."""
        data = self._inner.read(len(view))
        view[: len(data)] = data
        return len(data)


class Content:
    """One input while it is read.

    Parameters
    ----------
    source : path, bytes or binary stream
        ``Path("-")`` is standard input.
    path : str
        The file as the user named it, for messages.
    encoding : str
        ``utf-8``, or ``latin-1`` where the user says so.
    limit : int
        How many bytes a compressed file may expand to.
    block : int
        How many bytes to ask the file for at a time; who looks at the head alone need not read more.
    hashed : bool
        Whether the bytes are hashed, which takes a tenth of the time in which a large run is scored.

    Attributes
    ----------
    head : bytes
        The first 64 KiB, expanded and without byte order mark.
    lines_read : int
        The physical lines so far.
    bom, ends_in_newline : bool
        Whether a byte order mark was removed; whether the last line has an end.
    carriage_return_line : int or None
        The first line that ends in CRLF or CR.
    parquet : bool
        Whether it is a Parquet file, which is no text: only `binary` gives its bytes.

    Raises
    ------
    UnreadableInput
        F00 cannot be opened, F01 not UTF-8, F02 a bad archive, F03 binary, F07 empty.
    """

    def __init__(
        self,
        source: Source,
        path: str,
        *,
        encoding: str = "utf-8",
        limit: int = MAX_EXPANDED,
        block: int = BLOCK,
        hashed: bool = True,
    ) -> None:
        self.path, self.encoding, self.limit = path, encoding, limit
        self.lines_read = 0
        self.expanded = 0
        self.bom = False
        self.parquet = False
        self.ends_in_newline = True
        self.carriage_return_line: int | None = None
        self._offset = 0
        self._owned: BinaryIO | None = None
        self._raw = _Counted(self._open(source), hashed)
        try:
            buffered = io.BufferedReader(self._raw, block)
            self._gzipped = buffered.peek(2)[:2] == b"\x1f\x8b"
            self._stream: BinaryIO = self._gunzip(buffered) if self._gzipped else buffered
            self.head = self._without_mark(self._read(HEAD))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Content:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file if it was opened here; a stream that was handed in belongs to whoever handed it in."""
        if self._owned is not None:
            self._owned.close()

    @property
    def sha256(self) -> str:
        """The hash of the bytes as they were given, whole once everything was read; empty where none was wanted."""
        return "" if self._raw.hash is None else self._raw.hash.hexdigest()

    @property
    def size(self) -> int:
        """The bytes as they were given, so far."""
        return self._raw.size

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number, text) of every physical line, the line's end taken off."""
        for block in self._blocks():
            text = self._decoded(block)
            if "\r" in text:
                self._note_carriage_return(text)
                text = text.replace("\r\n", "\n").replace("\r", "\n")
            parts = text.split("\n")
            if not parts[-1]:
                parts.pop()
            for part in parts:
                self.lines_read += 1
                yield self.lines_read, part

    def lines_with_ends(self) -> Iterator[tuple[int, str]]:
        """Yield (number, text) with each line's own end, for formats whose cells may hold line breaks."""
        for block in self._blocks():
            for match in LINES_WITH_ENDS.finditer(self._decoded(block)):
                self.lines_read += 1
                yield self.lines_read, match.group()

    def text(self, most: int = MAX_TEXT) -> str:
        """Return everything as one string, for formats that are one JSON value of at most so many bytes."""
        parts, size = [], 0
        for block in self._blocks(whole=True):
            parts.append(block)
            size += len(block)
            if size > most:
                self.refuse(
                    None, f"is larger than {most >> 20} MiB", "split it, or check that it is the right file", "F03"
                )
        text = self._decoded(b"".join(parts))
        self._note_carriage_return(text)
        self.lines_read = _ends(text) + (not self.ends_in_newline)
        return text

    def data(self) -> bytes:
        """Return everything as bytes that are sure to be UTF-8, for readers that split bytes."""
        data = b"".join(self._blocks(whole=True))
        text = self._decoded(data)
        self._note_carriage_return(text)
        self.lines_read = _ends(text) + (not self.ends_in_newline)
        return data

    def binary(self) -> bytes:
        """Return everything as it is, for formats that are no text."""
        parts = [self.head]
        while chunk := self._read(BLOCK):
            parts.append(chunk)
        return b"".join(parts)

    def pieces(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Yield (lines before, bytes) in pieces of about `size` bytes, whole lines that are sure to be UTF-8."""
        import numpy as np

        for block in self._blocks(size=size):
            before = self.lines_read
            if block.isascii():
                self._offset += len(block)
            else:
                self._decoded(block)
            if b"\r" in block:
                self._note_carriage_return(block.decode("latin-1"))
                # A lone CR ends a line too.
                self.lines_read -= block.count(b"\r\n") - block.count(b"\r")
            # Ten times as fast as bytes.count where lines are short.
            ends = np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
            self.lines_read += int(ends) + (not block.endswith((b"\n", b"\r")))
            yield before, block

    def refuse(self, line: int | None, problem: str, expected: str, code: str) -> NoReturn:
        """Give up on the file.

        Raises
        ------
        UnreadableInput
            Always.
        """
        raise UnreadableInput(self.path, line, problem, expected, code)

    def _open(self, source: Source) -> BinaryIO:
        if isinstance(source, bytes):
            return io.BytesIO(source)
        if not isinstance(source, str | Path):
            return source
        if str(source) == "-":
            return sys.stdin.buffer
        try:
            self._owned = Path(source).open("rb")  # noqa: SIM115 (it outlives this call; close() ends it)
            return self._owned
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self.refuse(None, f"cannot be opened: {reason}", "expected the path of a file that you may read", "F00")

    def _gunzip(self, buffered: io.BufferedReader[_Counted]) -> BinaryIO:
        import gzip

        return cast(BinaryIO, gzip.GzipFile(fileobj=buffered))

    def _read(self, size: int) -> bytes:
        try:
            data = self._stream.read(size)
        except (EOFError, OSError) as error:
            self._unreadable(error)
        except Exception as error:
            # zlib has an error class of its own that is no OSError; importing it for its name alone is not worth it.
            if type(error).__module__ != "zlib":
                raise
            self._unreadable(error)
        self.expanded += len(data)
        if self._gzipped and (self.expanded > self.limit or self._expands_too_far()):
            self.refuse(None, f"expands to more than {self.expanded:,} bytes", "unpack it and split it", "F02")
        if not self.parquet and (b"\0" in data or (data[:4] in BINARY and self.expanded == len(data))):
            # A Parquet file begins with four letters that could begin a text too, but no text holds a NUL.
            if data[:4] == b"PAR1" and self.expanded == len(data):
                self.parquet = True
            else:
                self._binary(data)
        return data

    def _unreadable(self, error: Exception) -> NoReturn:
        if self._gzipped:
            self.refuse(None, f"is a damaged or truncated gzip file ({error})", "copy or compress it again", "F02")
        self.refuse(None, f"cannot be read: {error}", "expected a file", "F00")

    def _expands_too_far(self) -> bool:
        return self.expanded > RATIO_MATTERS_FROM and self.expanded > MAX_RATIO * self.size

    def _binary(self, data: bytes) -> NoReturn:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff") and self.expanded == len(data):
            self.refuse(None, "is UTF-16 text", "save it as UTF-8", "F01")
        first = data[:4] if self.expanded == len(data) else b""
        if kind := BINARY.get(first):
            self.refuse(None, f"looks like {kind}", REMEDY.get(first, PLAIN), "F03")
        # Further on the lines before this block are not counted here, and any line would be a guess.
        line = data.count(b"\n", 0, data.find(b"\0")) + 1 if self.expanded == len(data) and b"\0" in data else None
        self.refuse(line, "looks like a binary file: it holds a NUL byte", f"{PLAIN}, without it", "F03")

    def _without_mark(self, first: bytes) -> bytes:
        if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self.refuse(None, "is UTF-16 text", "save it as UTF-8", "F01")
        if first[:3] == b"\xef\xbb\xbf":
            self.bom = True
            self._offset = 3
            first = first[3:]
        if not first.strip(b" \t\r\n") and len(first) < HEAD - 3:
            self.refuse(None, "is empty", "expected at least one line", "F07")
        return first

    def _blocks(self, *, whole: bool = False, size: int = BLOCK) -> Iterator[bytes]:
        """Yield blocks that end at the end of a line (the whole content in one go has no use for that)."""
        if self.parquet:
            self.refuse(None, "is a Parquet file", "expected plain text in UTF-8, or its format's name", "F03")
        rest = self.head
        if size > BLOCK:
            # Whoever wants large pieces wants the head in the first of them, not before it.
            rest += self._read(size - len(rest))
        last = b"\n"
        while True:
            chunk = self._read(size)
            cut = len(rest) if whole or not chunk else _last_end(rest)
            if cut:
                yield rest[:cut]
                last = rest[cut - 1 : cut]
                rest = rest[cut:]
            elif len(rest) > MAX_LINE:
                self.refuse(self.lines_read + 1, "a line of over 16 MiB", "expected text with line ends", "F03")
            if not chunk:
                break
            rest += chunk
        self.ends_in_newline = last in (b"\n", b"\r")

    def _decoded(self, block: bytes) -> str:
        try:
            text = block.decode(self.encoding)
            self._offset += len(block)
            return text
        except UnicodeDecodeError as error:
            before = block[: error.start].replace(b"\r\n", b"\n")
            line = self.lines_read + before.count(b"\n") + before.count(b"\r") + 1
            self.refuse(
                line,
                f"is not valid UTF-8: byte 0x{block[error.start]:02X} at offset {self._offset + error.start}",
                "expected UTF-8; save the file again in that encoding",
                "F01",
            )

    def _note_carriage_return(self, text: str) -> None:
        if self.carriage_return_line is None and "\r" in text:
            self.carriage_return_line = self.lines_read + text.count("\n", 0, text.index("\r")) + 1


def numbered_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of the lines of bytes that are known to be UTF-8."""
    text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return enumerate(text.removesuffix("\n").split("\n"), 1)


def _ends(text: str) -> int:
    """Return how many line ends there are; a CR before an LF is one with it."""
    return text.count("\n") + (text.count("\r") - text.count("\r\n") if "\r" in text else 0)


def _last_end(data: bytes) -> int:
    """Return where the last whole line of a block ends; a CR at the very end may be half of a CRLF."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
