"""Addition of chosen pairs to a round: their order, their number of slots, and the counters."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import Max

from judgments.models import Document, Pair, Query, Round, Slot

BATCH = 2_000


class Candidate(NamedTuple):
    """A pair that was chosen for judging, with its origin."""

    query: Query
    document: Document
    origin: dict[str, Any]


def by_query(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return each pair once, grouped by query, with the queries in their original order."""
    queries: dict[int, dict[int, Candidate]] = {}
    for candidate in candidates:
        queries.setdefault(candidate.query.pk, {}).setdefault(candidate.document.pk, candidate)
    return [candidate for documents in queries.values() for candidate in documents.values()]


def add_pairs(round_: Round, chosen: list[Candidate]) -> None:
    """Add pairs to the round after its existing pairs."""
    last = round_.pairs.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    wanted = _ratings_wanted(len(chosen), round_, first)
    for begin in range(0, len(chosen), BATCH):
        pairs = Pair.objects.bulk_create(
            Pair(
                round=round_,
                query=candidate.query,
                document=candidate.document,
                origin=candidate.origin,
                position=first + place,
                ratings_wanted=wanted[place],
            )
            for place, candidate in enumerate(chosen[begin : begin + BATCH], begin)
        )
        Slot.objects.bulk_create(
            Slot(round=round_, pair=pair, position=pair.position, number=number, language=pair.query.language)
            for pair in pairs
            for number in range(1, pair.ratings_wanted + 1)
        )
    languages = Counter(round_.languages_made)
    languages.update(candidate.query.language for candidate in chosen)
    round_.pairs_made, round_.slots_made = round_.pairs_made + len(chosen), round_.slots_made + sum(wanted)
    round_.languages_made = dict(languages)
    round_.save(update_fields=["pairs_made", "slots_made", "languages_made"])


def _ratings_wanted(pairs: int, round_: Round, before: int) -> list[int]:
    """Return the ratings per pair: k for a seeded share of the pairs, one for the rest. Raters cannot see which."""
    overlapping = round((before + pairs) * round_.overlap) - round(before * round_.overlap)
    text = f"{round_.seed} overlap {before}" if before else f"{round_.seed} overlap"
    picked = set(random.Random(text).sample(range(pairs), overlapping))  # noqa: S311
    return [round_.ratings_per_pair if place in picked else 1 for place in range(pairs)]
