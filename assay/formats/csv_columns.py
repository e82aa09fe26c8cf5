"""Fast splitting of CSV files into cells.

Only plain lines become rows: the right number of cells, quotes only around whole cells, no apostrophe before a cell and
no control character. All other lines are reported as odd, and the reader processes them individually.
"""

from __future__ import annotations

import csv
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from assay.core.read_report import Tally
from assay.core.text_column import Bytes, Places, Texts, padded, spans
from assay.formats.column_names import ColumnMap
from assay.formats.column_reader import Layout, Lines
from assay.formats.delimited import (
    MAX_CELL,
    Cells,
    Columns,
    Header,
    check_mapping,
    header_of,
    named_cells,
    records,
    usual_delimiter,
)
from assay.formats.grade_cells import MAX_DIGITS, Keyed
from assay.formats.text_lines import Content
from assay.formats.trec_lines import BLANK, DELETE, NEWLINE, RETURN, Fields

Row = TypeVar("Row")

QUOTE, APOSTROPHE = 34, 39

Flags = npt.NDArray[np.bool_]


def split_cells(data: bytes, delimiter: str, width: int, *, quotes: bool = True) -> Fields:
    """Return the cells of all plain lines.

    Parameters
    ----------
    data : bytes
        Whole lines that end in LF or CRLF.
    delimiter : str
        The separator of cells: one ASCII character.
    width : int
        Number of cells per line.
    quotes : bool
        Whether cells may be quoted; otherwise quotation marks are ordinary characters.

    Returns
    -------
    Fields
        The rows of plain lines; `odd` contains the lines that need the careful reader.

    Examples
    --------
    >>> found = split_cells(b'q1,"red, blue",3\\nq2,x\\nq3,,1\\n', ",", 3)
    >>> list(found.texts(1)), found.lines.tolist(), found.odd.tolist()
    (['red, blue', ''], [0, 2], [1])
    """
    buffer = padded(data)
    text = buffer[: len(data)]
    marks = np.flatnonzero((text == ord(delimiter)) | (text == NEWLINE))
    is_end = text[marks] == NEWLINE
    line_ends = marks[is_end]
    quoted: Places | None = None
    if quotes and b'"' in data:
        quoted = _quotes_by_line(text, line_ends)
        outside = _outside_quotes(text, marks, is_end, quoted)
        marks, is_end = marks[outside], is_end[outside]
    last = np.flatnonzero(is_end)
    plain = np.diff(last, prepend=-1) == width
    plain &= np.diff(line_ends, prepend=-1) <= MAX_CELL
    plain[_lines_with_controls(text, line_ends, delimiter)] = False
    if quoted is not None:
        plain &= quoted % 2 == 0
    starts = np.empty_like(marks)
    starts[:1] = 0
    np.add(marks[:-1], 1, out=starts[1:])
    if not plain.all():
        of_plain = np.repeat(plain, np.diff(last, prepend=-1))
        starts, marks = starts[of_plain], marks[of_plain]
    starts, ends = starts.reshape((-1, width)), marks.reshape((-1, width))
    lines = np.flatnonzero(plain)
    if b"\r" in data:
        ends[:, -1] -= (ends[:, -1] > starts[:, -1]) & (buffer[ends[:, -1] - 1] == RETURN)
    odd = np.zeros(len(starts), dtype=np.bool_)
    if quoted is not None and quoted[lines].any():
        odd |= _take_quotes_off(buffer, starts, ends, quoted[lines])
    if b"'" in data:
        odd |= ((buffer[starts] == APOSTROPHE) & (ends > starts)).any(axis=1)
    if width == 1:
        odd |= _blank(buffer, starts[:, 0], ends[:, 0])
    if odd.any():
        plain[lines[odd]] = False
        starts, ends, lines = starts[~odd], ends[~odd], lines[~odd]
    return Fields(buffer, starts, ends, lines=lines, odd=np.flatnonzero(~plain))


def record_lines(lines: Iterator[str], delimiter: str) -> int:
    """Return the number of lines of the record that begins with the first line."""
    taken = 0

    def counted() -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += 1
            yield line

    # The careful reader reports the problem and reads the same lines.
    with suppress(csv.Error):
        next(csv.reader(counted(), delimiter=delimiter, strict=True), None)
    return taken


def _quotes_by_line(text: Bytes, line_ends: Places) -> Places:
    places = np.flatnonzero(text == QUOTE)
    counts: Places = np.bincount(np.searchsorted(line_ends, places), minlength=len(line_ends))
    return counts


def _outside_quotes(text: Bytes, marks: Places, is_end: Flags, quoted: Places) -> Flags:
    """Return which delimiters separate cells: those preceded by an even number of quotes, and line ends."""
    outside = np.ones(len(marks), dtype=np.bool_)
    line: Places = np.cumsum(is_end) - is_end
    inside_line = np.flatnonzero((quoted > 0)[line] & ~is_end)
    before = np.searchsorted(np.flatnonzero(text == QUOTE), marks[inside_line])
    first = np.cumsum(quoted) - quoted
    outside[inside_line] = (before - first[line[inside_line]]) % 2 == 0
    return outside


def _take_quotes_off(buffer: Bytes, starts: Places, ends: Places, quoted: Places) -> Flags:
    """Move the bounds of quoted cells inside their quotes; return the rows with any other quote."""
    rows = np.flatnonzero(quoted)
    first, last = starts[rows], ends[rows]
    whole = (buffer[first] == QUOTE) & (buffer[last - 1] == QUOTE) & (last - first >= 2)
    starts[rows] += whole
    ends[rows] -= whole
    odd = np.zeros(len(starts), dtype=np.bool_)
    odd[rows] = quoted[rows] != 2 * whole.sum(axis=1)
    return odd


def _lines_with_controls(text: Bytes, line_ends: Places, delimiter: str) -> Places:
    low = (text < BLANK) & (text != NEWLINE)
    low |= text == DELETE
    if delimiter == "\t":
        low &= text != ord(delimiter)
    places = np.flatnonzero(low)
    # A CR that is part of CRLF is not a control character.
    places = places[(text[places] != RETURN) | (text[np.minimum(places + 1, len(text) - 1)] != NEWLINE)]
    lines: Places = np.searchsorted(line_ends, places)
    return lines


def _blank(buffer: Bytes, starts: Places, ends: Places) -> Flags:
    """Return which cells are empty or begin with a blank."""
    return np.asarray((ends == starts) | (buffer[starts] <= BLANK) | (buffer[starts] >= DELETE))


class CsvLayout(Layout[Row]):
    """Layout of a CSV file with a header; formats define the rows."""

    spans_lines = True

    def __init__(
        self,
        content: Content,
        columns: Columns,
        *,
        mapping: ColumnMap = None,
        delimiter: str | None = None,
        unescaped: bool = True,
    ) -> None:
        check_mapping(mapping or {}, columns)
        self.known, self.mapping, self.unescaped = columns, mapping or {}, unescaped
        self.given, self.delimiter = delimiter, delimiter or usual_delimiter(content)
        self.header: Header | None = None

    def begin(self, lines: Lines, tally: Tally) -> None:
        record = next(records(lines, tally, self.delimiter), None)
        if record is not None:
            chosen = "" if self.given else self.delimiter
            self.header = header_of(record, tally, self.known, self.mapping, chosen)

    def split(self, data: bytes) -> Fields | None:
        if self.header is None or not self.delimiter.isascii():
            return None
        return split_cells(data, self.delimiter, len(self.header.names))

    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[Row]) -> None:
        for record in records(lines, tally, self.delimiter) if self.header else ():
            cells = named_cells(record, self.header, tally, self.known, self.unescaped) if self.header else None
            if cells is not None:
                self.add(cells, tally, by_key)

    @abstractmethod
    def add(self, cells: Cells, tally: Tally, by_key: Keyed[Row]) -> None:
        """Add a record that was read carefully."""

    def record_lines(self, lines: Iterator[str]) -> int:
        return record_lines(lines, self.delimiter)

    @property
    def places(self) -> Mapping[str, int]:
        """Return the position of each column of the file."""
        return self.header.places if self.header else {}

    def texts(self, fields: Fields, column: str) -> Texts | None:
        """Return a column of a piece by its name; None if the file does not have it."""
        return fields.texts(self.places[column]) if column in self.places else None


def whole_numbers(texts: Texts) -> Flags:
    """Return which texts are empty or have at most 15 digits."""
    sizes = texts.ends - texts.starts
    good: Flags = sizes <= MAX_DIGITS
    rows = np.flatnonzero(good)
    letters = texts.buffer[spans(texts.starts[rows], sizes[rows])]
    wrong = np.flatnonzero((letters < ord("0")) | (letters > ord("9")))
    good[rows[np.searchsorted(np.cumsum(sizes[rows]), wrong, side="right")]] = False
    return good
