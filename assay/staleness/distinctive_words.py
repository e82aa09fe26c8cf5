"""Words that distinguish the titles of one kind of document from all others.

Queries rarely contain a category's name, but they contain words from the titles of its documents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log, sqrt

from assay.sampling.row_counting import normalize

MOST_WORDS = 8
# A word must stand out by this many standard errors: one-sided 95%.
CLEARLY = 1.645
# It must also be this many times as frequent inside, because a draw takes every query with any of the words.
TIMES = 5.0
WORD = re.compile(r"[^\W\d_]\w+(?:[-'’]\w+)*")


def telling_words(inside: Sequence[str], outside: Sequence[str], most: int = MOST_WORDS) -> list[str]:
    """Return the words that distinguish some titles from others.

    Sorted by the log odds ratio that a title contains the word, with 0.5 added to every count (Haldane and Anscombe),
    divided by its standard error. A title counts a word once. Common English words are left out, because small samples
    differ in them by chance.

    Examples
    --------
    >>> others = ["Tent for two", "Tent for the winter", "Rain jacket for two", "Winter jacket"]
    >>> telling_words(["Hammock for two", "Hammock with a net", "Double hammock"], others)
    ['hammock']
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    here, there = _titles_with(inside), _titles_with(outside)
    sizes = (len(inside), len(outside))
    ranked: list[tuple[float, str]] = []
    for word in here.keys() - ENGLISH_STOP_WORDS:
        shares = here[word] / sizes[0], there[word] / max(sizes[1], 1)
        standing = _standing_out((here[word], there[word]), sizes)
        if shares[0] >= TIMES * shares[1] and standing >= CLEARLY:
            ranked.append((standing, word))
    return [word for _, word in sorted(ranked, key=lambda one: (-one[0], one[1]))[:most]]


def _titles_with(titles: Iterable[str]) -> Counter[str]:
    """Return the number of titles with each word."""
    return Counter(word for title in titles for word in set(WORD.findall(normalize(title))))


def _standing_out(counts: tuple[int, int], sizes: tuple[int, int]) -> float:
    cells = [(count + 0.5, size - count + 0.5) for count, size in zip(counts, sizes, strict=True)]
    (held, not_held), (held_there, not_held_there) = cells
    error = sqrt(sum(1 / cell for both in cells for cell in both))
    return log(held * not_held_there / (not_held * held_there)) / error
