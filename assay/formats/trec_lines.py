"""Split lines of TREC files into fields, and parse ranks and numbers: line by line, and all lines at once.

All at once works only for well-formed files: any white space, LF or CRLF, comments and blank lines are accepted. For
all other files the result is None, and the reader processes the lines one by one, which is slower and reports problems.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assay.core.read_report import Tally
from assay.core.text_column import WORD, Bytes, Places, Texts, padded, spans
from assay.core.text_rules import MAX_LENGTH

BLANK, TAB, RETURN, NEWLINE, COMMENT, DELETE = 32, 9, 13, 10, 35, 127

# Below these limits, whole numbers and powers of ten are exact in float64, so their quotient is rounded only once.
POWERS = np.array([float(f"1e{power}") for power in range(23)])
MINUS, PLUS, POINT, ZERO = 45, 43, 46, 48
LONGEST_NUMBER = 26
INFINITIES = {float("inf"), float("-inf")}
NAN = float("nan")

# Eight characters as one number: each is a digit if neither sum below sets its highest bit.
ZEROS, ABOVE_NINE, HIGH = (np.uint64(int.from_bytes(bytes([byte] * 8), "little")) for byte in (0x30, 0x46, 0x80))
LOW_HALVES = np.uint64(0x0F0F0F0F0F0F0F0F)
# Two digits become one number below 100, two of these one below 10,000, and two of these the whole.
STEPS = tuple(
    (np.uint64(factor), np.uint64(bits), np.uint64(mask))
    for factor, bits, mask in (
        (10 * 256 + 1, 8, 0x00FF00FF00FF00FF),
        (100 * 65536 + 1, 16, 0x0000FFFF0000FFFF),
        (10_000 * (1 << 32) + 1, 32, 0x00000000FFFFFFFF),
    )
)

QUERY, DOCUMENT = 0, 2

# Control characters and spaces outside ASCII (categories Cc and Zs).
_ODD = re.compile("[\x80-\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def _no_lines() -> Places:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of all lines with content."""

    buffer: Bytes
    starts: Places
    ends: Places
    widths: Places | None = None
    lines: Places | None = None
    comments: Places = field(default_factory=_no_lines)
    blanks: Places = field(default_factory=_no_lines)
    odd: Places = field(default_factory=_no_lines)

    def texts(self, column: int) -> Texts:
        """Return one column as texts."""
        starts, ends = np.ascontiguousarray(self.starts[:, column]), np.ascontiguousarray(self.ends[:, column])
        return Texts(self.buffer, starts, ends)

    def row(self, row: int) -> str:
        """Return the fields of a row as in the file, with their separators."""
        begin, end = int(self.starts[row, 0]), int(self.ends[row, -1])
        return self.buffer[begin:end].tobytes().decode()

    def line(self, row: int) -> int:
        """Return the line number of a row, from 1."""
        return (row if self.lines is None else int(self.lines[row])) + 1

    def lines_from(self, before: int) -> Places:
        """Return the line numbers of all rows, from 1, after this many earlier lines."""
        return (np.arange(self.rows) if self.lines is None else self.lines) + (before + 1)

    @property
    def rows(self) -> int:
        """Return the number of lines with content."""
        return len(self.starts)

    def wider(self, width: int) -> Places:
        """Return the rows with more than this many fields."""
        if self.widths is None:
            return np.arange(self.rows if self.starts.shape[1] > width else 0)
        return np.flatnonzero(self.widths > width)

    def width(self, row: int) -> int:
        """Return the number of fields of a row."""
        return int(self.starts.shape[1] if self.widths is None else self.widths[row])


def split_fields(data: bytes, least: int, *, tolerant: bool = False) -> Fields | None:
    """Split all lines into fields.

    Parameters
    ----------
    data : bytes
        Whole lines.
    least : int
        Minimum number of fields per line.
    tolerant : bool
        Whether lines that need the careful reader are left out and reported as `odd`; the caller then checks the length
        of ids.

    Returns
    -------
    Fields or None
        None if a line needs the careful reader.

    Examples
    --------
    >>> found = split_fields(b"q1 Q0 d1 1 9.1 bm25\\nq1\\tQ0  d2 2 8.7 bm25\\n", 6)
    >>> list(found.texts(2)), numbers(found.texts(4)).tolist()
    (['d1', 'd2'], [9.1, 8.7])
    """
    if not data:
        return None
    usual = data.isascii() or _is_usual(data)
    if not usual and not tolerant:
        return None
    buffer = padded(data if data.endswith(b"\n") else data + b"\n")
    text = buffer[:-WORD]
    odd = _blank_odd_lines(text, usual) if tolerant else _no_lines()
    gaps = np.flatnonzero(text <= BLANK)
    separators = text[gaps]
    ends_line = separators == NEWLINE
    # White space as in C's isspace, without two characters that ids and terminals handle badly. Only bytes that occur
    # are searched, one at a time, which is much faster than comparing each byte.
    known = ends_line | (separators == BLANK)
    for byte in (TAB, RETURN):
        if byte in data:
            known |= separators == byte
    if not known.all() or (DELETE in data and not tolerant):
        return None
    # A CR also ends a line, except before an LF.
    if RETURN in data:
        returns = gaps[separators == RETURN]
        if (buffer[returns + 1] != NEWLINE).any():
            return None
    line_ends = gaps[ends_line]
    begins = np.concatenate(([0], line_ends[:-1] + 1))
    comments = np.flatnonzero(text[begins] == COMMENT) if COMMENT in data else _no_lines()
    if len(comments):
        # Comments have no fields: the line counts as blank from here on.
        text[spans(begins[comments], line_ends[comments] - begins[comments])] = BLANK
        gaps = np.flatnonzero(text <= BLANK)
    fields = _by_line(buffer, gaps, line_ends, comments, least, odd if tolerant else None)
    if fields is None or not fields.rows or tolerant:
        return fields
    longest = max(int((fields.ends[:, at] - fields.starts[:, at]).max()) for at in (QUERY, DOCUMENT))
    return fields if longest <= MAX_LENGTH else None


def _blank_odd_lines(text: Bytes, usual: bool) -> Places:
    """Overwrite lines that need the careful reader with blanks; return these lines."""
    needs_care = (text < BLANK) & (text != TAB) & (text != NEWLINE)
    needs_care |= text == DELETE
    if not usual:
        needs_care |= text > DELETE
    places = np.flatnonzero(needs_care)
    places = places[(text[places] != RETURN) | (text[np.minimum(places + 1, len(text) - 1)] != NEWLINE)]
    if not len(places):
        return _no_lines()
    line_ends = np.flatnonzero(text == NEWLINE)
    lines = np.unique(np.searchsorted(line_ends, places))
    begins = np.where(lines > 0, line_ends[lines - 1] + 1, 0)
    text[spans(begins, line_ends[lines] - begins)] = BLANK
    return lines


def _is_usual(data: bytes) -> bool:
    """Return whether bytes are UTF-8 without characters for which an id is flagged or refused (W39, E19)."""
    # Check each distinct word with a letter outside ASCII once, because equal words have the same fault.
    try:
        words = b"\n".join({word for word in data.split() if not word.isascii()}).decode()
    except UnicodeDecodeError:
        return False
    return unicodedata.is_normalized("NFC", words) and not _ODD.search(words)


def _by_line(
    buffer: Bytes, gaps: Places, line_ends: Places, comments: Places, least: int, odd: Places | None
) -> Fields | None:
    starts = np.empty(len(gaps), dtype=np.int64)
    starts[0] = 0
    np.add(gaps[:-1], 1, out=starts[1:])
    filled = gaps > starts
    if not filled.all():
        # For several blanks between two fields, or CRLF: a gap directly after another does not end a field.
        starts, gaps = starts[filled], gaps[filled]
    width = len(starts) // len(line_ends)
    if width >= least and len(starts) == width * len(line_ends):
        fields = Fields(buffer, starts.reshape(-1, width), gaps.reshape(-1, width))
        # Exactly one line end after each row's last field means that there is none within a row.
        if (line_ends >= fields.ends[:, -1]).all() and (line_ends[:-1] <= fields.starts[1:, 0]).all():
            return fields
    return _of_any_width(buffer, starts, gaps, line_ends, comments, least, odd)


def _of_any_width(
    buffer: Bytes,
    starts: Places,
    ends: Places,
    line_ends: Places,
    comments: Places,
    least: int,
    odd: Places | None,
) -> Fields | None:
    """Return the first fields of lines with varying numbers of fields; short lines are unusual if tolerated."""
    behind = np.searchsorted(starts, line_ends)
    widths = np.diff(behind, prepend=0)
    lines = np.flatnonzero(widths >= least)
    short = (widths > 0) & (widths < least)
    if short.any() and odd is None:
        return None
    fields = (behind - widths)[lines, np.newaxis] + np.arange(least)
    blank = widths == 0
    blank[comments] = False
    if odd is not None:
        blank[odd] = False
        short[odd] = True
    return Fields(
        buffer,
        starts[fields],
        ends[fields],
        widths[lines],
        lines if len(lines) < len(line_ends) else None,
        comments + 1,
        np.flatnonzero(blank) + 1,
        np.flatnonzero(short),
    )


def numbers(texts: Texts) -> npt.NDArray[np.float64] | None:
    """Parse a column of decimal numbers as `numbers_or_nan` does; None if a text is not a finite decimal number.

    Examples
    --------
    >>> numbers(Texts.of(["1_000"])), numbers(Texts.of(["two"])), numbers(Texts.of(["nan"]))
    (None, None, None)
    """
    values = numbers_or_nan(texts)
    return None if np.isnan(values).any() else values


def numbers_or_nan(texts: Texts) -> npt.NDArray[np.float64]:
    """Parse a column of decimal numbers, each to the nearest float64, as ``float`` does.

    Examples
    --------
    >>> numbers_or_nan(Texts.of(["12.5", "-3", "1e3", ".5", "0.98765432109876543", "two"])).tolist()
    [12.5, -3.0, 1000.0, 0.5, 0.9876543210987654, nan]
    """
    values = np.empty(len(texts), dtype=np.float64)
    sizes = texts.ends - texts.starts
    first = texts.buffer[texts.starts]
    # A file has few number shapes, so all numbers of the same length are parsed together, with or without a sign.
    shapes = sizes * 2 + ((first == MINUS) | (first == PLUS))
    for shape in np.flatnonzero(np.bincount(shapes)).tolist():
        rows = np.flatnonzero(shapes == shape)
        sign, size = shape & 1, shape >> 1
        if sign < size <= sign + WORD:
            rows = _of_one_word(texts.take(rows), sign, size - sign, values, rows)
        if len(rows) and sign < size <= LONGEST_NUMBER:
            rows = _of_one_shape([texts.buffer[texts.starts[rows] + at] for at in range(size)], sign, values, rows)
        read = [number(text) for text in texts.take(rows).tolist()]
        # The digits may exceed float64, and infinite values must be reported.
        values[rows] = [NAN if value is None or value in INFINITIES else value for value in read]
    return values


def _of_one_word(texts: Texts, sign: int, digits: int, values: npt.NDArray[np.float64], rows: Places) -> Places:
    """Parse numbers of one length of at most 8 characters, all at once if they share the point's position."""
    words = texts.first_words(sign)
    characters = int(words[0]).to_bytes(WORD, "little")[:digits]
    point = characters.find(b".")
    plain: npt.NDArray[np.bool_] | None = None
    if point >= 0:
        if digits in (1, WORD) and point + 1 == digits:
            return rows
        plain = (words >> np.uint64(8 * point)) & np.uint64(255) == POINT
        before = words & np.uint64((1 << 8 * point) - 1)
        words = before | ((words >> np.uint64(8 * (point + 1))) << np.uint64(8 * point))
    many = digits - (point >= 0)
    if not many:
        return rows
    if many < WORD:
        words <<= np.uint64(8 * (WORD - many))
        words |= ZEROS & np.uint64((1 << 8 * (WORD - many)) - 1)
    are_digits = ((words + ABOVE_NINE) | (words - ZEROS)) & HIGH == 0
    plain = are_digits if plain is None else plain & are_digits
    words &= LOW_HALVES
    for factor, bits, mask in STEPS:
        words *= factor
        words >>= bits
        words &= mask
    quotients = words.astype(np.float64)
    if point >= 0:
        quotients /= POWERS[many - point]
    if sign:
        np.negative(quotients, out=quotients, where=texts.buffer[texts.starts] == MINUS)
    if plain.all():
        values[rows] = quotients
        return rows[:0]
    values[rows[plain]] = quotients[plain]
    return rows[~plain]


def _of_one_shape(characters: list[Bytes], sign: int, values: npt.NDArray[np.float64], rows: Places) -> Places:
    """Parse the numbers of one length into `values`; return the rows that need another method."""
    digits = characters[sign:]
    whole = np.zeros(len(rows), dtype=np.float64)
    points = np.zeros(len(rows), dtype=np.int64)
    place = np.zeros(len(rows), dtype=np.int64)
    plain = np.ones(len(rows), dtype=np.bool_)
    for at, column in enumerate(digits):
        digit = column - np.uint8(ZERO)
        is_digit = digit <= 9
        if is_digit.all():
            whole *= 10.0
            whole += digit
            continue
        is_point = column == POINT
        plain &= is_digit | is_point
        points += is_point
        place[is_point] = at
        np.copyto(whole, whole * 10.0 + digit, where=is_digit)
    decimals = np.where(points == 1, len(digits) - 1 - place, 0)
    plain &= (points <= 1) & (whole < EXACT_WHOLE) & (decimals < len(POWERS)) & (len(digits) > points)
    quotients = whole / POWERS[np.minimum(decimals, len(POWERS) - 1)]
    if sign:
        np.negative(quotients, out=quotients, where=characters[0] == MINUS)
    values[rows[plain]] = quotients[plain]
    return rows[~plain]


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE | re.ASCII)
# Whole numbers below this one are exact in float64.
EXACT_WHOLE = 2.0**53

_SEPARATORS = re.compile(r"[ \t\v\f\r\n]+")
_PYTHON_ONLY = re.compile(r"[\x1c-\x1f]")


def fields(line: str) -> list[str]:
    """Split at ASCII white space, as C's ``isspace`` does; other Unicode spaces belong to the id.

    Examples
    --------
    >>> fields(" q1\\t0  my\\u00a0doc 3 ")
    ['q1', '0', 'my\\xa0doc', '3']
    """
    if line.isascii() and not _PYTHON_ONLY.search(line):
        return line.split()
    return [part for part in _SEPARATORS.split(line) if part]


def records(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line, text, fields) of the lines with content; comments and blank lines are counted here."""
    for line, text in lines:
        tally.read()
        if text.startswith("#"):
            tally.put("comment")
            tally.once("W34", line, "a comment line", done="skipped")
        elif not (parts := fields(text)):
            tally.put_blank(line)
        else:
            yield line, text, parts


def rank_of(text: str) -> int | None:
    """Parse a rank; None for a word, a fraction or a negative number.

    Examples
    --------
    >>> rank_of("3"), rank_of("3.0"), rank_of("-1"), rank_of("first")
    (3, 3, None, None)
    """
    value = number(text)
    return int(value) if value is not None and 0 <= value < EXACT_WHOLE and value.is_integer() else None


def number(text: str, *, infinite: bool = False) -> float | None:
    """Parse a decimal number; None for words, hex, underscores and NaN.

    Examples
    --------
    >>> number("12.5"), number("1e-3"), number("two"), number("1_000"), number("nan"), number("inf", infinite=True)
    (12.5, 0.001, None, None, None, inf)
    """
    if _NUMBER.fullmatch(text) or (infinite and _INFINITE.fullmatch(text)):
        return float(text)
    return None
