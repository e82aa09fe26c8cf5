"""Resolution of a conflict: a lead sets the grade of a pair and gives a reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from assay.core.errors import NotValid
from judgments.labels import carried_labels
from judgments.models import Adjudication, Judgment, Pair, Round, User, audit
from judgments.quality import gold_pairs
from judgments.rating import pair_state

# The number of recently closed rounds that the home page checks for resolutions.
LOOKED_THROUGH = 5
ANSWERS = (Judgment.State.GRADED, Judgment.State.UNRATEABLE)


def resolved_pairs_for(rater: User, round_: Round) -> QuerySet[Pair]:
    """Return the resolved pairs of a closed round that the rater judged, with ``mine`` and ``resolutions``."""
    if round_.state != Round.State.CLOSED:
        return Pair.objects.none()
    rows = _answered(rater, round_)
    open_keys = _still_open(round_, rows.values_list("query__query_id", "document__doc_id"))
    if open_keys:
        hidden = [
            pk for pk, *key in rows.values_list("pk", "query__query_id", "document__doc_id") if tuple(key) in open_keys
        ]
        rows = rows.exclude(pk__in=hidden)
    standing = Adjudication.objects.filter(superseded_by__isnull=True)
    return (
        rows.select_related("query", "document")
        .prefetch_related(
            Prefetch("judgments", _own(rater), to_attr="mine"),
            Prefetch("adjudications", standing, to_attr="resolutions"),
        )
        .order_by("position")
    )


def rounds_with_resolutions(rater: Any) -> list[Round]:
    """Return the recently closed rounds with resolutions that the rater may read."""
    rounds = Round.objects.filter(state=Round.State.CLOSED, raters__user=rater)
    rounds = rounds.filter(collection__memberships__user=rater).select_related("collection")
    return [one for one in rounds.order_by("-closed_at")[:LOOKED_THROUGH] if resolved_pairs_for(rater, one).exists()]


def _answered(rater: User, round_: Round) -> QuerySet[Pair]:
    resolved = Adjudication.objects.filter(superseded_by__isnull=True, pair__round=round_).order_by()
    return round_.pairs.filter(Exists(_own(rater).filter(pair=OuterRef("pk"))), pk__in=resolved.values("pair"))


def _own(rater: User) -> QuerySet[Judgment]:
    return Judgment.objects.standing().filter(rater=rater, state__in=ANSWERS)


def _still_open(round_: Round, keys: Iterable[gold_pairs.Key]) -> set[gold_pairs.Key]:
    """Return the pairs whose grade an open round may still request."""
    wanted, open_keys = set(keys), set[gold_pairs.Key]()
    for other in round_.collection.rounds.exclude(state=Round.State.CLOSED) if wanted else ():
        known = other.gold.values_list("query__query_id", "document__doc_id")
        open_keys |= gold_pairs.stands_already(other, wanted) | (
            carried_labels.linked_pairs(round_.collection, known) & wanted
        )
    return open_keys


LONGEST_REASON = 4_000


@transaction.atomic
def resolve(pair: Pair, *, grade: int, actor: User, reason: str = "", cause: str = "") -> Adjudication:
    """Resolve a conflict: set a pair's grade, with a reason. A new resolution supersedes the earlier one; both stay."""
    values = pair.round.scale.values()
    if grade not in values:
        known = ", ".join(map(str, values))
        raise NotValid(f"{grade} is not a grade of this round.", {"grade": f"Use one of {known}."})
    why = _why(reason.strip(), cause)
    locked = Pair.objects.select_for_update().get(pk=pair.pk)
    before = Adjudication.objects.filter(pair=pair, superseded_by__isnull=True).first()
    settled = Adjudication.objects.create(pair=pair, grade=grade, reason=why, resolved_by=actor, supersedes=before)
    with pair_state.updating_counters(pair.round, [locked], home=_first_rater(pair) or actor):
        Pair.objects.filter(pk=pair.pk).update(resolved=True)
        locked.resolved = True
    audit.record(
        "adjudication.settle",
        # The sentence omits the grade, because its reader may still grade the pair.
        f"{actor} resolved “{pair.query}” x {pair.document}",
        actor=actor,
        collection=pair.round.collection,
        target=pair,
    )
    return settled


def _first_rater(pair: Pair) -> User | None:
    first = Judgment.objects.filter(pair=pair).select_related("rater").order_by("pk").first()
    return first.rater if first is not None else None


def _why(reason: str, cause: str) -> str:
    """Return the reason as stored: the text of the cause, then the reason."""
    causes = dict(Adjudication.Cause.choices)
    if cause and cause not in causes:
        raise NotValid(
            f"Unknown cause {cause!r}.", {"cause": f"Known causes: {', '.join(causes)}. You can leave the cause empty."}
        )
    if not reason and not cause:
        raise NotValid(
            "A resolution needs a reason.", {"reason": "Give the reason in one sentence. Raters will read it."}
        )
    if len(reason) > LONGEST_REASON:
        problem = f"The reason has {len(reason):,} characters. The limit is {LONGEST_REASON:,}. Shorten it."
        raise NotValid(problem, {"reason": problem})
    return ". ".join(filter(None, [causes.get(cause, ""), reason]))
