"""Near-duplicate queries of a log: different word order, different endings or misspellings."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from assay.core.errors import NotValid
from assay.sampling.misspellings import Clicked, misspellings
from assay.sampling.query_table import LogQuery

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
        message = f"the similarity is {similarity:g}; use a number above 0.5, up to 1"
        raise NotValid(message, {"similarity": message})
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
