"""Discovery curve of a round, and who may see it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import median_low
from typing import TYPE_CHECKING, Any

from django.db.models import Max, QuerySet

from judgments import access, carried
from judgments.computed import once
from judgments.models import Judgment, Pair, Round, Slot
from judgments.rounds import is_rater
from pooling.models import Pool
from pooling.refilling import relevant_from

if TYPE_CHECKING:
    from pooling.strategies.discovery import Found

DAY = 24 * 3600
# What is kept is an answer as it is now; a new number here leaves older ones alone.
FORM = 1


def found_in(pool: Pool | None, rounds: Sequence[Round]) -> Found:
    """The discovery curve of the rounds of one pool.

    A pair counts when it has all its ratings, at the place of the last of them; it is relevant when the lower median of
    its grades is. A pair that nobody could judge is not on the curve.

    Parameters
    ----------
    pool : Pool or None
        Where the pairs come from: it says how many pairs each depth would have taken, and which grade is relevant.
    rounds : sequence of Round
        Whose judgments are counted.
    """
    newest = Judgment.objects.filter(pair__round__in=rounds).aggregate(newest=Max("pk"))["newest"]
    slots = Slot.objects.filter(round__in=rounds).count()
    names = "-".join(str(round_.pk) for round_ in rounds)
    key = f"discovery:{FORM}:{pool.pk if pool else 0}:{names}:{newest}:{slots}"
    return once(key, partial(_found, pool, rounds), keep=DAY)


def _found(pool: Pool | None, rounds: Sequence[Round]) -> Found:
    from pooling.strategies.discovery import discovery

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
    """The pool that the round's pairs come from; None where they come from none that is still there."""
    origin = round_.pairs.order_by("position").values_list("origin", flat=True).first() or {}
    return Pool.objects.filter(collection=round_.collection, uuid=origin.get("pool")).first()


def made_from(pool: Pool) -> QuerySet[Round]:
    """The rounds that were made from a pool, drafts too: the first pair of each knows where it comes from."""
    return pool.collection.rounds.filter(pairs__position=0, pairs__origin__pool=str(pool.uuid))


def rounds_of(pool: Pool) -> list[Round]:
    """The rounds that were made from a pool and opened."""
    return list(made_from(pool).exclude(state=Round.State.DRAFT).order_by("pk"))


def withheld(user: Any, rounds: Sequence[Round]) -> bool:
    """Whether the curve would tell the user something about grades that they may still have to give.

    It would where they rate in one of these rounds while it is open, or may still be handed a pair of theirs elsewhere.
    """
    if any(round_.state == Round.State.OPEN and is_rater(user, round_) for round_ in rounds):
        return True
    open_ = Round.objects.open_to(user).filter(collection__in=[round_.collection_id for round_ in rounds])
    elsewhere = [access.hidden_pairs(user, other) for other in open_.exclude(pk__in=[round_.pk for round_ in rounds])]
    hidden = {pair for pairs in elsewhere for pair in pairs.values_list("query__query_id", "document__doc_id")}
    if not hidden:
        return False
    # A pair that is judged for another one, or beside another spelling, has the same grade as that.
    told = carried.told_by(rounds[0].collection, hidden)
    shown = Pair.objects.filter(round__in=rounds).values_list("query__query_id", "document__doc_id")
    return any(pair in told for pair in shown.iterator(chunk_size=2_000))
