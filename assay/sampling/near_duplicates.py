"""Near-duplicate queries of a log: different word order, different endings or misspellings."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations

from assay.core.errors import NotValid
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
    """Return whether two neighboring letters are swapped."""
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


SAME_WORDS = "the same words"
ENDING = "the same words except for a final s"
ALIKE = "nearly the same letters"
SIMILARITY = 0.9
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class QueryGroup:
    """Queries that may be the same, for a person to decide."""

    queries: tuple[LogQuery, ...]
    reasons: tuple[str, ...]


def near_duplicates(
    queries: Sequence[LogQuery], similarity: float = SIMILARITY, clicked: Clicked | None = None
) -> list[QueryGroup]:
    """Propose which queries to treat as the same.

    Examples
    --------
    >>> counts = {"tent red": 5, "red tent": 2, "rope": 9}
    >>> counted = [LogQuery(text, text, n, None, 1, None) for text, n in counts.items()]
    >>> [[query.text for query in group.queries] for group in near_duplicates(counted)]
    [['tent red', 'red tent']]
    """
    if not 0.5 < similarity <= 1:
        raise NotValid(f"the similarity is {similarity:g}; use a number above 0.5, up to 1", "similarity")
    queries = tuple(queries)
    texts = [query.query for query in queries]
    leader = list(range(len(texts)))
    reason: dict[int, str] = {}
    ways = (
        (SAME_WORDS, _same_words(texts)),
        (ENDING, _same_words(texts, _singular)),
        (ALIKE, _alike(texts, similarity)),
    )
    alike = ((one, other, why) for why, pairs in ways for one, other in pairs)
    for one, other, why in chain(alike, misspellings(queries, clicked)):
        first, second = _leader(leader, one), _leader(leader, other)
        if first != second:
            leader[second] = first
        for place in (one, other):
            reason.setdefault(place, why)
    members: dict[int, list[int]] = defaultdict(list)
    for place in reason:
        members[_leader(leader, place)].append(place)
    groups = [_group(queries, places, reason) for places in members.values()]
    return sorted(groups, key=lambda group: (-_searches(group), group.queries[0].query.encode()))


def _group(queries: Sequence[LogQuery], places: list[int], reason: dict[int, str]) -> QueryGroup:
    places.sort(key=lambda place: (-queries[place].frequency, queries[place].query.encode()))
    why = ("", *(reason[place] for place in places[1:]))
    return QueryGroup(tuple(queries[place] for place in places), why)


def _searches(group: QueryGroup) -> int:
    return sum(query.frequency for query in group.queries)


def _leader(leader: list[int], place: int) -> int:
    while leader[place] != place:
        leader[place] = leader[leader[place]]
        place = leader[place]
    return place


def _same_words(texts: Sequence[str], form: Callable[[str], str] = str) -> Iterator[tuple[int, int]]:
    known: dict[tuple[str, ...], int] = {}
    for place, text in enumerate(texts):
        first = known.setdefault(tuple(sorted({form(word) for word in text.split()})), place)
        if first != place:
            yield first, place


def _singular(word: str) -> str:
    """Return a word without a final s that may be a plural: rakes becomes rake; glass and a model x5s are unchanged."""
    plural = len(word) >= 4 and word[-1] == "s" and word[-2].isalpha() and word[-2] != "s"
    return word[:-1] if plural else word


def _alike(texts: Sequence[str], similarity: float) -> Iterator[tuple[int, int]]:
    parts = [_parts(text) for text in texts]
    numbers = [tuple(sorted(_DIGITS.findall(text))) for text in texts]
    common = Counter(part for those in parts for part in those)
    waiting: dict[tuple[object, ...], list[int]] = defaultdict(list)
    # Smallest sets first, so that the stored set is never the larger one.
    for place in sorted(range(len(texts)), key=lambda place: len(parts[place])):
        mine = parts[place]
        least = similarity * len(mine)
        rarest = sorted(mine, key=lambda part: (common[part], part))[: len(mine) - math.ceil(least) + 2]
        seen: set[int] = set()
        for shared in combinations(rarest, min(2, len(rarest))):
            others = waiting[(*shared, numbers[place])]
            for other in others[bisect_left(others, least, key=lambda other: len(parts[other])) :]:
                if other not in seen:
                    seen.add(other)
                    both = len(mine & parts[other])
                    if both >= similarity * (len(mine) + len(parts[other]) - both):
                        yield other, place
            others.append(place)


def _parts(text: str) -> frozenset[str]:
    """Return the three-letter parts of a text with a blank before and after it."""
    padded = f" {text} "
    return frozenset(padded[at : at + 3] for at in range(max(1, len(padded) - 2)))
