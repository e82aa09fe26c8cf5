"""Split a line of a TREC file into fields, and parse ranks and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.core.read_report import Tally

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
