"""Excerpts: choose the sentences of a long text that are most informative for a query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# Characters of an excerpt, and of each of its passages.
ROOM = 800
PASSAGE = 270
# Longer sentences are cut between two words, or within a word that is longer.
LONGEST = 300
# The weight factor of a term that a chosen passage already contains.
AGAIN = 0.4
# One character set first, so that the regular expression engine skips the text between.
END = re.compile(r"""[.!?…。！？؟۔।\n](["'»”’)\]]*\s+)?""")
# Characters that end a sentence without a following space.
ALONE = frozenset("。！？؟۔।\n")
BREAK = re.compile(r"\W\w*$")


# Start and end of a sentence in the text. A plain tuple, since a long text has thousands.
Sentence = tuple[int, int]


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text with one block per line, each at most `LONGEST` characters.

    Examples
    --------
    >>> sentences("Rain. It is dry.\\nA tent")
    [(0, 5), (6, 16), (17, 23)]
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for one in END.finditer(text):
        sign = one[0][0]
        if sign not in ALONE and one[1] is None:
            continue
        stop = one.start() if sign == "\n" else one.start() + len(one[0].rstrip())
        if stop - start > LONGEST:
            start = _cut(text, start, stop, spans)
        if stop > start:
            spans.append((start, stop))
        start = one.end()
    start = _cut(text, start, len(text), spans)
    return [*spans, (start, len(text))] if start < len(text) else spans


def _cut(text: str, start: int, stop: int, spans: list[Sentence]) -> int:
    """Cut a long text between two words; return where the rest begins."""
    while stop - start > LONGEST:
        cut = _between_words(text, start)
        spans.append((start, cut))
        start = cut + (text[cut] == " ")
    return start


def _between_words(text: str, start: int) -> int:
    """Return the position where a long sentence is cut."""
    space = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
    if space > 0:
        return space
    last_break = BREAK.search(text[start + 1 : start + LONGEST])
    return start + LONGEST if last_break is None else start + 2 + last_break.start()


def touch(text: str, first: Sentence, second: Sentence) -> bool:
    """Return whether the second sentence follows the first in the same block."""
    return "\n" not in text[first[1] : second[0]]


def chosen(text: str, spans: Sequence[Sentence], hits: Mapping[int, frozenset[str]]) -> list[int]:
    """Return the sentences of the excerpt, in the order of the text."""
    worth = _worth(hits)
    taken: set[int] = set()
    room, left = ROOM, dict(hits)
    while left and room > 0:
        best = max(left, key=lambda place: (sum(worth[term] for term in sorted(left[place])), -place))
        passage = [place for place in _around(text, spans, best) if place not in taken]
        taken.update(passage)
        room -= sum(_size(spans[place]) for place in passage)
        for term in left[best]:
            worth[term] *= AGAIN
        left = {place: terms for place, terms in left.items() if place not in taken}
    return sorted(taken) if taken else _beginning(spans)


def _worth(hits: Mapping[int, frozenset[str]]) -> dict[str, float]:
    """Return the weight of each term: the more sentences contain it, the lower."""
    number: dict[str, int] = {}
    for terms in hits.values():
        for term in terms:
            number[term] = number.get(term, 0) + 1
    return {term: 1 / (1 + many**0.5) for term, many in number.items()}


def _around(text: str, spans: Sequence[Sentence], best: int) -> list[int]:
    """Return a sentence with the following and then the preceding sentences of its block, up to the passage length."""
    first = last = best
    room = PASSAGE - _size(spans[best])
    while last + 1 < len(spans) and _size(spans[last + 1]) <= room:
        last += 1
        room -= _size(spans[last])
    while first and _size(spans[first - 1]) <= room and touch(text, spans[first - 1], spans[first]):
        first -= 1
        room -= _size(spans[first])
    return list(range(first, last + 1))


def _beginning(spans: Sequence[Sentence]) -> list[int]:
    taken: list[int] = []
    room = ROOM
    for place, one in enumerate(spans):
        room -= _size(one)
        if taken and room < 0:
            break
        taken.append(place)
    return taken


def _size(sentence: Sentence) -> int:
    return sentence[1] - sentence[0]
