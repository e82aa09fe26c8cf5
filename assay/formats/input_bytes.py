"""Open an input as bytes from a file or stream: decompress it and refuse binary content. The content decides, not
the file name: gzip is recognized by its first two bytes.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn, Self, cast

from assay.core.counted_nouns import amount
from assay.core.errors import BeyondLimits, UnreadableInput

if TYPE_CHECKING:
    import hashlib

Source = Path | str | bytes | BinaryIO

BLOCK = 1 << 20
HEAD = 1 << 16
MAX_EXPANDED = 1 << 31
MAX_RATIO = 250
RATIO_MATTERS_FROM = 100 << 20


class Ceiling(NamedTuple):
    """Limits on how much a process may read of a file."""

    expanded: int
    lines: int


# Limits of a process that reads for others (`judgments.jobs.limited_process`).
CEILING: Ceiling | None = None

LZ4 = b"\x04\x22\x4d\x18"
PLAIN = "expected UTF-8 text, optionally compressed with gzip"
BINARY = {b"PK\x03\x04": "a zip archive", LZ4: "an LZ4 file, as ranx writes runs"}
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


class Opened:
    """The decompressed bytes of an input."""

    def __init__(
        self, source: Source, path: str, *, limit: int = MAX_EXPANDED, block: int = BLOCK, hashed: bool = True
    ) -> None:
        self.path, self.limit = path, limit
        self.expanded = self._lines = 0
        self.parquet = False
        self._owned: BinaryIO | None = None
        self._raw = _Counted(self._open(source), hashed)
        try:
            buffered = io.BufferedReader(self._raw, block)
            self._gzipped = buffered.peek(2)[:2] == b"\x1f\x8b"
            self._stream: BinaryIO = self._gunzip(buffered) if self._gzipped else buffered
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

    def _read(self, size: int) -> bytes:
        try:
            data = self._stream.read(size)
        except (EOFError, OSError) as error:
            self._unreadable(error)
        except Exception as error:
            # zlib's error class is not an OSError; importing zlib only for its name is not worthwhile.
            if type(error).__module__ != "zlib":
                raise
            self._unreadable(error)
        self.expanded += len(data)
        if CEILING is not None:
            self._hold(data, CEILING)
        if self._gzipped and (self.expanded > self.limit or self._expands_too_far()):
            self.refuse(None, f"expands to more than {self.expanded:,} bytes", "decompress it and split it", "F02")
        if not self.parquet and (b"\0" in data or (data[:4] in BINARY and self.expanded == len(data))):
            # A Parquet file begins with four letters that could also begin a text, but no text contains a NUL.
            if data[:4] == b"PAR1" and self.expanded == len(data):
                self.parquet = True
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
        # In later blocks, earlier lines are not counted here, so any line number would be a guess.
        line = data.count(b"\n", 0, data.find(b"\0")) + 1 if self.expanded == len(data) and b"\0" in data else None
        self.refuse(line, "looks like a binary file: it contains a NUL byte", f"{PLAIN}, without it", "F03")
