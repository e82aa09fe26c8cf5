"""Open a file or stream, decompress it, and decode its bytes into numbered lines without loading the whole file.

The content decides, not the file name: gzip is recognized by its first two bytes, and binary content is refused. UTF-8
is read strictly. Lines end only at LF, CRLF or a lone CR (``str.splitlines`` would also split at form feeds and Unicode
separators).
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn, Self, cast

from assay.core.errors import BeyondLimits, UnreadableInput
from assay.core.text_rules import amount

if TYPE_CHECKING:
    import hashlib

Source = Path | str | bytes | BinaryIO

BLOCK = 1 << 20
HEAD = 1 << 16
MAX_LINE = 1 << 24
MAX_TEXT = 1 << 29
MAX_EXPANDED = 1 << 31
MAX_RATIO = 250
RATIO_MATTERS_FROM = 100 << 20

LINES_WITH_ENDS = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


class Ceiling(NamedTuple):
    """Limits on how much a process may read of a file."""

    expanded: int
    lines: int


# Limits of a process that reads for others (`judgments.jobs.limited_process`).
CEILING: Ceiling | None = None

LZ4 = b"\x04\x22\x4d\x18"
PLAIN = "expected UTF-8 text, optionally compressed with gzip or zip"
ZIP = b"PK\x03\x04"
BINARY = {LZ4: "an LZ4 file, as ranx writes runs"}
REMEDY = {
    LZ4: "decompress it (lz4 -d), or write the run as JSON or Parquet (in ranx: run.save('run.json')) and use that file"
}


def reusable_source(source: Source) -> Path | str | bytes:
    """Return a source that can be read more than once; a stream or pipe is read into memory.

    Examples
    --------
    >>> reusable_source(io.BytesIO(b"q1 0 d1 1")), reusable_source(b"q1 0 d1 1")
    (b'q1 0 d1 1', b'q1 0 d1 1')
    """
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str | Path):
        return source.read()
    if str(source) == "-":
        return sys.stdin.buffer.read()
    return Path(source).read_bytes() if Path(source).is_fifo() else source


def _sha256() -> hashlib._Hash:
    # Loading OpenSSL takes a twentieth of a small evaluation, which usually needs no hash.
    import hashlib

    return hashlib.sha256()


class _Counted(io.RawIOBase):
    """Raw input stream that counts its bytes, and hashes them on request."""

    def __init__(self, inner: BinaryIO, hashed: bool) -> None:
        self._inner = inner
        # A passed stream may have inherited a readinto that does not work.
        fills = isinstance(inner, io.BufferedReader | io.FileIO | io.BytesIO)
        self._fill: Callable[[memoryview], int] = inner.readinto if fills else self._copied  # type: ignore[attr-defined]
        self.hash = _sha256() if hashed else None
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
        """Read into a buffer, for streams that only have ``read``."""
        data = self._inner.read(len(view))
        view[: len(data)] = data
        return len(data)


class Content:
    """An input that is read as text, with its decompressed bytes."""

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
        self.path, self.limit, self.encoding = path, limit, encoding
        self.expanded = self._lines = self._offset = self.lines_read = 0
        self.parquet = self.workbook = self.bom = False
        self.ends_in_newline = True
        self.carriage_return_line: int | None = None
        self._owned: BinaryIO | None = None
        self._raw = _Counted(self._open(source), hashed)
        try:
            buffered = io.BufferedReader(self._raw, block)
            magic = buffered.peek(4)[:4]
            self._packed = "zip archive" if magic == ZIP else "gzip file" if magic[:2] == b"\x1f\x8b" else ""
            self._stream: BinaryIO = buffered
            if self._packed:
                self._stream = self._unzip(buffered) if magic == ZIP else self._gunzip(buffered)
            self.head = self._without_mark(self._read(HEAD))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file if it was opened here."""
        if self._owned is not None:
            self._owned.close()

    @property
    def sha256(self) -> str:
        """Return the hash of the original bytes, complete after reading; empty without hashing."""
        return "" if self._raw.hash is None else self._raw.hash.hexdigest()

    @property
    def size(self) -> int:
        """Return the number of original bytes read so far."""
        return self._raw.size

    def refuse(self, line: int | None, problem: str, expected: str, code: str) -> NoReturn:
        """Refuse the file."""
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

    def _unzip(self, buffered: io.BufferedReader[_Counted]) -> BinaryIO:
        """Open the only file of a zip archive."""
        import zipfile

        # The list of an archive's files is at its end.
        data = io.BytesIO()
        while block := buffered.read(BLOCK):
            if data.write(block) and data.tell() > self.limit:
                self.refuse(None, f"is a zip archive of more than {self.limit:,} bytes", "unpack it", "F02")
        try:
            archive = zipfile.ZipFile(data)
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
            files = [name for name in names if not name.startswith("__MACOSX/")]
            if "xl/workbook.xml" in names:
                self.workbook, self._packed = True, ""
                data.seek(0)
                return data
            if "[Content_Types].xml" in names:
                self.refuse(None, "looks like an office document", "save the table as CSV", "F03")
            if unsafe := next((name for name in files if name.startswith("/") or ".." in name.split("/")), None):
                self.refuse(None, f"is an archive with the unsafe path {unsafe[:200]!r}", "pack it again", "F02")
            if len(files) != 1:
                listed = ", ".join(files[:10]) or "no files"
                what = f"is a zip archive of {amount(len(files), 'file')}: {listed}"
                self.refuse(None, what, "an archive must contain exactly one file; unpack it and use that file", "F06")
            return cast(BinaryIO, archive.open(files[0]))
        except UnreadableInput:
            raise
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, UnicodeError, ValueError, OSError) as error:
            self.refuse(None, f"is a damaged or unsupported zip archive ({error})", "pack it again", "F02")

    def _read(self, size: int) -> bytes:
        try:
            data = self._stream.read(size)
        except (EOFError, OSError) as error:
            self._unreadable(error)
        except Exception as error:
            # These error classes are not OSErrors; importing the modules only for their names is not worthwhile.
            if type(error).__module__ not in ("zlib", "zipfile"):
                raise
            self._unreadable(error)
        self.expanded += len(data)
        if CEILING is not None and not self.workbook:
            self._hold(data, CEILING)
        if self._packed and (self.expanded > self.limit or self._expands_too_far()):
            self.refuse(None, f"expands to more than {self.expanded:,} bytes", "decompress it and split it", "F02")
        if not (self.parquet or self.workbook) and (
            b"\0" in data or (data[:4] in BINARY and self.expanded == len(data))
        ):
            # A Parquet file begins with four letters that could also begin a text, but no text contains a NUL.
            if data[:4] == b"PAR1" and self.expanded == len(data):
                self.parquet = True
            elif data[:4] == ZIP and self.expanded == len(data) and self._packed == "gzip file":
                self.workbook = True
            else:
                self._binary(data)
        return data

    def _hold(self, data: bytes, most: Ceiling) -> None:
        """Raise an exception if the file exceeds a limit."""
        self._lines += max(data.count(b"\n"), data.count(b"\r"))
        if self.expanded > most.expanded:
            raise BeyondLimits(
                f"{self.path} has more than {most.expanded >> 20:,} MB when decompressed. Split the file."
            )
        if self._lines > most.lines:
            raise BeyondLimits(f"{self.path} has more than {amount(most.lines, 'line')}. Split the file.")

    def _unreadable(self, error: Exception) -> NoReturn:
        if self._packed:
            self.refuse(None, f"is a damaged or truncated {self._packed} ({error})", "copy or compress it again", "F02")
        self.refuse(None, f"cannot be read: {error}", "expected a file", "F00")

    def _expands_too_far(self) -> bool:
        return self.expanded > RATIO_MATTERS_FROM and self.expanded > MAX_RATIO * self.size

    def _binary(self, data: bytes) -> NoReturn:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff") and self.expanded == len(data):
            self.refuse(None, "is UTF-16 text", "save it as UTF-8", "F01")
        first = data[:4] if self.expanded == len(data) else b""
        if kind := BINARY.get(first):
            self.refuse(None, f"looks like {kind}", REMEDY.get(first, PLAIN), "F03")
        # In later blocks, earlier lines are not counted here, so any line number would be a guess.
        line = data.count(b"\n", 0, data.find(b"\0")) + 1 if self.expanded == len(data) and b"\0" in data else None
        self.refuse(line, "looks like a binary file: it contains a NUL byte", f"{PLAIN}, without it", "F03")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number, text) of every physical line, without its line end."""
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
        """Yield (number, text) with each line's own end, for formats whose cells may contain line breaks."""
        for block in self._blocks():
            for match in LINES_WITH_ENDS.finditer(self._decoded(block)):
                self.lines_read += 1
                yield self.lines_read, match.group()

    def text(self, most: int = MAX_TEXT) -> str:
        """Return the whole text, for formats that are one JSON value of limited size."""
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
        """Return the whole content as valid UTF-8 bytes, for readers that split bytes."""
        data = b"".join(self._blocks(whole=True))
        text = self._decoded(data)
        self._note_carriage_return(text)
        self.lines_read = _ends(text) + (not self.ends_in_newline)
        return data

    def binary(self) -> bytes:
        """Return all bytes unchanged, for binary formats."""
        parts = [self.head]
        while chunk := self._read(BLOCK):
            parts.append(chunk)
        return b"".join(parts)

    def pieces(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Yield (lines before, bytes) in pieces of about `size` bytes: whole lines of valid UTF-8."""
        import numpy as np

        for block in self._blocks(size=size):
            before = self.lines_read
            if block.isascii():
                self._offset += len(block)
            else:
                self._decoded(block)
            if b"\r" in block:
                self._note_carriage_return(block.decode("latin-1"))
                # A lone CR also ends a line.
                self.lines_read -= block.count(b"\r\n") - block.count(b"\r")
            # Ten times as fast as bytes.count for short lines.
            ends = np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
            self.lines_read += int(ends) + (not block.endswith((b"\n", b"\r")))
            yield before, block

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
        """Yield blocks that end at a line end, unless the whole content is read at once."""
        if self.parquet:
            self.refuse(None, "is a Parquet file", "expected UTF-8 text, or name its format", "F03")
        if self.workbook:
            self.refuse(None, "is an XLSX workbook", "save the table as CSV, or name its format", "F03")
        rest = self.head
        if size > BLOCK:
            # With large pieces, the first piece includes the head.
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
                self.refuse(self.lines_read + 1, "a line longer than 16 MiB", "expected text with line endings", "F03")
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
    """Yield (number, text) of the lines of valid UTF-8 bytes."""
    text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return enumerate(text.removesuffix("\n").split("\n"), 1)


def _ends(text: str) -> int:
    """Return the number of line ends; CRLF counts once."""
    return text.count("\n") + (text.count("\r") - text.count("\r\n") if "\r" in text else 0)


def _last_end(data: bytes) -> int:
    """Return the end of the last whole line of a block; a final CR may be half of a CRLF."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
