"""Decode the bytes of a file into numbered lines, without guessing and without loading the whole file.

UTF-8 is read strictly. Lines end only at LF, CRLF or a lone CR (``str.splitlines`` would also split at form feeds and
Unicode separators). The bytes come from `input_bytes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.formats.input_bytes import BLOCK, HEAD, MAX_EXPANDED, Opened, Source, reusable_source

__all__ = [
    "HEAD",
    "LINES_WITH_ENDS",
    "MAX_EXPANDED",
    "MAX_LINE",
    "Content",
    "Source",
    "numbered_lines",
    "reusable_source",
]

MAX_LINE = 1 << 24
MAX_TEXT = 1 << 29

LINES_WITH_ENDS = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


class Content(Opened):
    """An input that is read as text."""

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
        super().__init__(source, path, limit=limit, block=block, hashed=hashed)
        self.encoding = encoding
        self.lines_read = 0
        self.bom = False
        self.ends_in_newline = True
        self.carriage_return_line: int | None = None
        self._offset = 0
        try:
            self.head = self._without_mark(self._read(HEAD))
        except BaseException:
            self.close()
            raise

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
                self.refuse(self.lines_read + 1, "a line longer than 16 MiB", "expected text with line ends", "F03")
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
