"""Difference of two texts, line by line, and word by word within a changed line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

# The cost of comparing is about the product of both lengths. Longer differing parts count as replaced.
MOST_LINES = 4_000
MOST_WORDS = 400
# Two lines with less in common than this are a removed and an added line, not a changed one.
ALIKE = 0.4
WORDS = re.compile(r"\s+|\w+|[^\w\s]")


class Piece(NamedTuple):
    """A part of a line: ``kept``, ``removed`` or ``added``."""

    kind: str
    text: str


class Line(NamedTuple):
    """A line: ``kept``, ``removed``, ``added``, or ``changed`` with the words of both."""

    kind: str
    pieces: tuple[Piece, ...]


def changes(old: str, new: str) -> list[Line]:
    """Return all lines of both texts in reading order, each with its change.

    Examples
    --------
    >>> [(line.kind, *line.pieces) for line in changes("A part: 1.", "A part: 2.")]
    [('changed', Piece(kind='kept', text='A part: '), Piece(kind='removed', text='1'), Piece(kind='added', text='2'), \
Piece(kind='kept', text='.'))]
    """
    before, after = old.split("\n"), new.split("\n")
    first, last = _common(before, after)
    lines = [_whole("kept", text) for text in before[:first]]
    lines += _between(before[first : len(before) - last], after[first : len(after) - last])
    return lines + [_whole("kept", text) for text in before[len(before) - last :]]


def _common(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return the number of common first lines, and of common last lines among the others."""
    least = min(len(before), len(after))
    first = next((at for at in range(least) if before[at] != after[at]), least)
    left = least - first
    last = next((at for at in range(left) if before[-1 - at] != after[-1 - at]), left)
    return first, last


def _between(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    if max(len(before), len(after)) > MOST_LINES:
        return [*_all("removed", before), *_all("added", after)]
    lines: list[Line] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after).get_opcodes():
        if kind == "equal":
            lines += _all("kept", before[a:b])
        else:
            lines += _replaced(before[a:b], after[c:d])
    return lines


def _replaced(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    """Yield the changes of replaced lines; similar lines at the same position are one changed line."""
    pairs = min(len(before), len(after))
    for old, new in zip(before[:pairs], after[:pairs], strict=True):
        pieces = _words(old, new)
        if pieces is None:
            yield from (_whole("removed", old), _whole("added", new))
        else:
            yield Line("changed", tuple(pieces))
    yield from _all("removed", before[pairs:])
    yield from _all("added", after[pairs:])


def _words(old: str, new: str) -> list[Piece] | None:
    """Return the changes within a line; None if the lines have too little in common or too many words."""
    before, after = WORDS.findall(old), WORDS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < ALIKE:
        return None
    pieces = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            pieces.append(Piece("kept", "".join(before[a:b])))
            continue
        parts = (("removed", before[a:b]), ("added", after[c:d]))
        pieces += [Piece(kind, "".join(words)) for kind, words in parts if words]
    return pieces


def _whole(kind: str, text: str) -> Line:
    return Line(kind, (Piece(kind, text),))


def _all(kind: str, lines: Sequence[str]) -> list[Line]:
    return [_whole(kind, text) for text in lines]
