"""Excerpts: choose the sentences of a long text that say most about a query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# An excerpt has about so many characters, in passages of about so many each.
ROOM = 800
PASSAGE = 270
# Longer sentences are cut between two words, and where there is only one word in so much text, within it.
LONGEST = 300
# What a term is worth that a chosen passage holds already.
AGAIN = 0.4
# One set of signs first, so that the text between is passed over at once.
END = re.compile(r"""[.!?…。！？؟۔।\n](["'»”’)\]]*\s+)?""")
# Signs that end a sentence without a space behind them.
ALONE = frozenset("。！？؟۔।\n")
BREAK = re.compile(r"\W\w*$")


# Where a sentence begins and ends in the text. A plain tuple: a long text has thousands of them.
Sentence = tuple[int, int]


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text whose lines are its blocks, none of them longer than `LONGEST`.

    Examples
    --------
    >>> sentences("Rain. It is dry.\\nA tent")
    [(0, 5), (6, 16), (17, 23)]
    """
    found = []
    start = 0
    for one in END.finditer(text):
        sign = one[0][0]
        if sign not in ALONE and one[1] is None:
            continue
        stop = one.start() if sign == "\n" else one.start() + len(one[0].rstrip())
        if stop - start > LONGEST:
            start = _cut(text, start, stop, found)
        if stop > start:
            found.append((start, stop))
        start = one.end()
    start = _cut(text, start, len(text), found)
    return [*found, (start, len(text))] if start < len(text) else found


def _cut(text: str, start: int, stop: int, found: list[Sentence]) -> int:
    """Cut what is too long between two words; answers where the rest begins."""
    while stop - start > LONGEST:
        cut = _between_words(text, start)
        found.append((start, cut))
        start = cut + (text[cut] == " ")
    return start


def _between_words(text: str, start: int) -> int:
    """Where a sentence that is too long is cut."""
    space = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
    if space > 0:
        return space
    found = BREAK.search(text[start + 1 : start + LONGEST])
    return start + LONGEST if found is None else start + 2 + found.start()


def touch(text: str, first: Sentence, second: Sentence) -> bool:
    """Whether the second follows the first in the same block."""
    return "\n" not in text[first[1] : second[0]]


def chosen(text: str, found: Sequence[Sentence], hits: Mapping[int, frozenset[str]]) -> list[int]:
    """Which sentences make the excerpt, in the text's order.

    Parameters
    ----------
    text : str
        What they are the sentences of.
    found : sequence of Sentence
        All of them.
    hits : mapping
        The terms of the query that a sentence holds, by its place; sentences without any are left out.

    Returns
    -------
    list of int
        The places. The sentence with the most and rarest terms comes first, then the one that adds most to it, each
        with what stands beside it; the beginning where no term is found.
    """
    worth = _worth(hits)
    taken: set[int] = set()
    room, left = ROOM, dict(hits)
    while left and room > 0:
        best = max(left, key=lambda place: (sum(worth[term] for term in sorted(left[place])), -place))
        passage = [place for place in _around(text, found, best) if place not in taken]
        taken.update(passage)
        room -= sum(_size(found[place]) for place in passage)
        for term in left[best]:
            worth[term] *= AGAIN
        left = {place: terms for place, terms in left.items() if place not in taken}
    return sorted(taken) if taken else _beginning(found)


def _worth(hits: Mapping[int, frozenset[str]]) -> dict[str, float]:
    """What each term tells: less, the more sentences hold it."""
    number: dict[str, int] = {}
    for terms in hits.values():
        for term in terms:
            number[term] = number.get(term, 0) + 1
    return {term: 1 / (1 + many**0.5) for term, many in number.items()}


def _around(text: str, found: Sequence[Sentence], best: int) -> list[int]:
    """A sentence with what follows it, then with what comes before it in its block, as long as a passage has room."""
    first = last = best
    room = PASSAGE - _size(found[best])
    while last + 1 < len(found) and _size(found[last + 1]) <= room:
        last += 1
        room -= _size(found[last])
    while first and _size(found[first - 1]) <= room and touch(text, found[first - 1], found[first]):
        first -= 1
        room -= _size(found[first])
    return list(range(first, last + 1))


def _beginning(found: Sequence[Sentence]) -> list[int]:
    taken: list[int] = []
    room = ROOM
    for place, one in enumerate(found):
        room -= _size(one)
        if taken and room < 0:
            break
        taken.append(place)
    return taken


def _size(sentence: Sentence) -> int:
    return sentence[1] - sentence[0]
