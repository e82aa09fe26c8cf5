"""Proposals of queries that are probably misspellings of other queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from assay.sampling.query_table import LogQuery

MISSPELT = "differs by one letter and has far fewer searches"
CLICKED = "differs by one letter and has clicks on the same documents"
# Shorter words are too often other words: cat and car, tent and rent.
SHORTEST = 4
# Based on searches alone, only for transposed letters or from this length on: lamp and lamb are different things.
SHORTEST_ALONE = 6
# The factor by which a misspelling is rarer than the intended query, as a query and as a word in all queries.
RARER, RARER_SWAPPED = 20, 8
# Documents clicked on for both, and their share of the smaller set.
COMMON, COMMON_SHARE = 2, 0.5
# Longer queries are matched by their three-letter parts.
LONGEST = 80

Clicked = Callable[[Iterable[int]], Mapping[int, frozenset[object]]]


def misspellings(queries: Sequence[LogQuery], clicked: Clicked | None = None) -> Iterator[tuple[int, int, str]]:
    """Propose queries that are misspellings of others.

    Examples
    --------
    >>> counts = {"tent": 90, "tnet": 3, "rent": 1, "cat": 50, "car": 1}
    >>> list(misspellings([LogQuery(text, text, n, None, 1, None) for text, n in counts.items()]))
    [(0, 1, 'differs by one letter and has far fewer searches')]
    """
    # Without clicks only frequent queries can be the intended ones.
    least = RARER_SWAPPED if clicked is None else 0
    candidates = list(_candidates([query.query for query in queries], [query.frequency >= least for query in queries]))
    documents = clicked({place for pair in candidates for place in pair}) if clicked and candidates else {}
    compared = [(one, other, _same_clicks(documents, one, other)) for one, other in candidates]
    yield from ((*_ordered(queries, one, other), CLICKED) for one, other, same in compared if same)
    unknown = [_ordered(queries, one, other) for one, other, same in compared if same is None]
    by_searches = partial(_far_rarer, queries, _traffic(queries))
    meant: dict[int, int] = {}
    for common, rare in unknown:
        if by_searches(common, rare) and queries[common].frequency > queries[meant.get(rare, rare)].frequency:
            meant[rare] = common
    yield from ((common, rare, MISSPELT) for rare, common in meant.items())


def _candidates(texts: Sequence[str], known: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield positions of texts that differ in one letter of one word; at least one of them is known."""
    index: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        if known[place]:
            for key in _less_one(text):
                index[key].append(place)
    for place, text in enumerate(texts):
        near = {other for key in _less_one(text) for other in index.get(key, ())}
        for other in sorted(near):
            # A pair of two known queries occurs twice.
            if (other < place or not known[place]) and _changed(texts[other], text):
                yield other, place


def _less_one(text: str) -> set[str]:
    """Return the text, and the text without each of its letters."""
    if not SHORTEST <= len(text) <= LONGEST:
        return set()
    return {text, *(text[:at] + text[at + 1 :] for at in range(1, len(text)) if text[at].isalpha())}


def _changed(one: str, other: str) -> tuple[str, str] | None:
    """Return the differing word in both texts if one of its letters may be wrong; otherwise None."""
    words, others = one.split(), other.split()
    if len(words) != len(others):
        return None
    differ = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    if len(differ) != 1 or not _one_letter(*differ[0]):
        return None
    return differ[0]


def _one_letter(one: str, other: str) -> bool:
    if min(len(one), len(other)) < SHORTEST or one[0] != other[0] or not (one.isalpha() and other.isalpha()):
        return False
    if len(one) == len(other):
        return _swapped(one, other) or sum(a != b for a, b in zip(one, other, strict=True)) == 1
    short, long = sorted((one, other), key=len)
    return len(long) == len(short) + 1 and any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _swapped(one: str, other: str) -> bool:
    """Return whether two neighboring letters changed places."""
    at = [place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    return (
        len(one) == len(other)
        and len(at) == 2
        and at[1] == at[0] + 1
        and (one[at[0]], one[at[1]]) == (other[at[1]], other[at[0]])
    )


def _same_clicks(documents: Mapping[int, frozenset[object]], one: int, other: int) -> bool | None:
    """Return whether the clicked documents are the same; None if too little is known."""
    first, second = documents.get(one, frozenset()), documents.get(other, frozenset())
    smaller, both = min(len(first), len(second)), len(first & second)
    if smaller < COMMON:
        return None
    return True if both >= max(COMMON, COMMON_SHARE * smaller) else None if both else False


def _ordered(queries: Sequence[LogQuery], one: int, other: int) -> tuple[int, int]:
    """Return the more frequent query first."""
    return (one, other) if queries[one].frequency >= queries[other].frequency else (other, one)


def _traffic(queries: Sequence[LogQuery]) -> Counter[str]:
    """Return the number of searches with each word, in any query."""
    words: Counter[str] = Counter()
    for query in queries:
        for word in set(query.query.split()):
            words[word] += query.frequency
    return words


def _far_rarer(queries: Sequence[LogQuery], words: Counter[str], common: int, rare: int) -> bool:
    changed = _changed(queries[common].query, queries[rare].query)
    if changed is None:
        return False
    meant, wrong = changed
    swapped = _swapped(meant, wrong)
    if not swapped and len(meant) < SHORTEST_ALONE:
        return False
    times = RARER_SWAPPED if swapped else RARER
    rarer = queries[common].frequency >= times * max(1, queries[rare].frequency)
    return rarer and words[meant] >= times * max(1, words[wrong])
