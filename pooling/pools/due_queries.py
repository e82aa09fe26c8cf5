"""Demand of a growing round: the queries that may get more pairs, and the number of pairs that its raters need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Min

from judgments.models import Pair, Slot
from judgments.rating import assignment
from pooling.models import Refill

# Raters have this many batches ahead, so that they do not wait while the next batch is chosen.
AHEAD = 2


@dataclass(frozen=True)
class Room:
    """The queries that can get more pairs."""

    queries: Mapping[str, int]
    judged: Mapping[str, int]
    pairs: Mapping[str, int]
    left: int
    over: str = ""


def room(refill: Refill) -> Room:
    """Return the queries and pairs that budget, strategy and judgments still allow."""
    counted = Pair.objects.filter(round=refill.round).order_by().values_list("query__query_id")
    rows = sorted(counted.annotate(number=Count("pk"), first=Min("position")), key=lambda row: (row[1], row[2]))
    pairs = {query_id: number for query_id, number, _ in rows}
    open_slots = Slot.objects.filter(round=refill.round, filled_by__isnull=True).order_by()
    waiting = dict(open_slots.values_list("pair__query__query_id").annotate(number=Count("pair", distinct=True)))
    judged = {query_id: number - waiting.get(query_id, 0) for query_id, number in pairs.items()}
    # The residual stratum is part of the budget and is drawn when the rest is used up.
    left = (refill.round.most_pairs or 0) - sum(pairs.values()) - refill.residual * len(pairs)
    most = refill.pairs_per_query
    free = {query_id: left if most is None else min(left, most - number) for query_id, number in pairs.items()}
    free = {query_id: number for query_id, number in free.items() if number > 0}
    if not free:
        return Room({}, judged, pairs, left, Refill.End.BUDGET)
    due = {query_id: number for query_id, number in free.items() if refill.dry.get(query_id) != judged[query_id]}
    ended = not due and not any(query_id in waiting for query_id in free)
    return Room(due, judged, pairs, left, Refill.End.STRATEGY if ended else "")


def wanted(refill: Refill) -> int:
    """Return the number of pairs missing until every active rater has two batches of their own ahead."""
    return max(0, -slack(refill))


def slack(refill: Refill) -> int:
    """Return the number of pairs beyond the raters' needs; negative if pairs are missing."""
    ahead = assignment.available_pairs(refill.round)
    if not ahead:
        return 0
    each = AHEAD * refill.batch
    at_work = max(assignment.count_active_raters(refill.round), 1)
    ratings = 1 + (refill.round.ratings_per_pair - 1) * refill.round.overlap
    shared = (assignment.free_slots(refill.round) - each * at_work) / ratings
    return min(min(ahead.values()) - each, math.floor(shared))
