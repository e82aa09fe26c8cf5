"""Discovery curve of a round, and the readers who may see it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import median_low
from typing import TYPE_CHECKING, Any

from django.db.models import Max, QuerySet

from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility
from judgments.members.round_raters import is_rater
from judgments.models import Judgment, Pair, Round, Slot
from pooling.models import Pool
from pooling.pools.refill_job import relevant_from

if TYPE_CHECKING:
    from assay.strategies.discovery_curve import DiscoveryCurve

DAY = 24 * 3600
# Version of the cached value; increase it when the computation changes.
FORM = 1


def discovery_of(pool: Pool | None, rounds: Sequence[Round]) -> DiscoveryCurve:
    """Return the discovery curve of the rounds of one pool."""
    newest = Judgment.objects.filter(pair__round__in=rounds).aggregate(newest=Max("pk"))["newest"]
    slots = Slot.objects.filter(round__in=rounds).count()
    names = "-".join(str(round_.pk) for round_ in rounds)
    key = f"discovery:{FORM}:{pool.pk if pool else 0}:{names}:{newest}:{slots}"
    return compute_once(key, partial(_discovery, pool, rounds), keep=DAY)


def _discovery(pool: Pool | None, rounds: Sequence[Round]) -> DiscoveryCurve:
    from assay.strategies.discovery_curve import discovery

    waiting = Slot.objects.filter(round__in=rounds, filled_by__isnull=True).values("pair")
    rows = Judgment.objects.counted().filter(pair__round__in=rounds).exclude(pair__in=waiting).order_by("pk")
    grades: dict[int, list[int]] = {}
    last: dict[int, int] = {}
    for pk, pair, grade in rows.values_list("pk", "pair", "grade"):
        grades.setdefault(pair, []).append(grade)
        last[pair] = pk
    ranks = dict(Pair.objects.filter(round__in=rounds).values_list("pk", "origin__best_rank"))
    least = relevant_from(pool) if pool else 1.0
    order = sorted(last, key=last.__getitem__)
    judged = [(median_low(grades[pair]) >= least, ranks.get(pair)) for pair in order]
    return discovery(judged, pool.summary.get("pairs_to_depth", ()) if pool else ())


def pool_of(round_: Round) -> Pool | None:
    """Return the pool of the round's pairs; None if it no longer exists."""
    origin = round_.pairs.order_by("position").values_list("origin", flat=True).first() or {}
    return Pool.objects.filter(collection=round_.collection, uuid=origin.get("pool")).first()


def made_from(pool: Pool) -> QuerySet[Round]:
    """Return the rounds made from a pool, including drafts. The first pair of each round records its pool."""
    return pool.collection.rounds.filter(pairs__position=0, pairs__origin__pool=str(pool.uuid))


def rounds_of(pool: Pool) -> list[Round]:
    """Return the rounds that were made from a pool and opened."""
    return list(made_from(pool).exclude(state=Round.State.DRAFT).order_by("pk"))


def is_hidden_from(user: Any, rounds: Sequence[Round]) -> bool:
    """Return whether the curve would reveal grades of pairs that the user may still grade."""
    if any(round_.state == Round.State.OPEN and is_rater(user, round_) for round_ in rounds):
        return True
    hidden = grade_visibility.hidden_keys(user, rounds[0].collection) if rounds else set()
    if not hidden:
        return False
    shown = Pair.objects.filter(round__in=rounds).values_list("query__query_id", "document__doc_id")
    return any(pair in hidden for pair in shown.iterator(chunk_size=2_000))
