"""Resolution of a conflict: a lead sets the grade of a pair and gives a reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from assay.core.errors import Conflict, NotFound, NotValid
from judgments.labels import carried_labels
from judgments.models import Adjudication, AuditRow, Example, Judgment, Pair, Round, User, audit
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
    standing = Adjudication.objects.current()
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
    resolved = Adjudication.objects.current().filter(pair__round=round_).order_by()
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
def resolve(
    pair: Pair,
    *,
    grade: int,
    actor: User,
    reason: str = "",
    cause: str = "",
    client_id: UUID | None = None,
    replace: bool = True,
) -> Adjudication:
    """Resolve a conflict: set a pair's grade, with a reason. A new resolution supersedes the earlier one; both stay.

    A resolution that was sent before with the same client id is returned unchanged. Without ``replace``, a pair that is
    already resolved is refused.
    """
    values = pair.round.scale.values()
    if grade not in values:
        known = ", ".join(map(str, values))
        raise NotValid(f"{grade} is not a grade of this round.", {"grade": f"Use one of {known}."})
    why = _why(reason.strip(), cause)
    locked = Pair.objects.select_for_update().select_related("round").get(pk=pair.pk)
    if client_id is not None and (before := _recorded(client_id, pair, actor)) is not None:
        return before
    if locked.resolved and not replace:
        raise Conflict("A lead resolved this pair in the meantime. Open the pair to resolve it again.")
    uuid = {"uuid": client_id} if client_id is not None else {}
    settled = Adjudication(pair=locked, grade=grade, reason=why, resolved_by=actor, **uuid)
    store([locked], [settled], home=first_rater(pair) or actor)
    audit.record(
        "adjudication.settle",
        # The sentence omits the grade, because its reader may still grade the pair.
        f"{actor} resolved “{pair.query}” x {pair.document}",
        actor=actor,
        collection=pair.round.collection,
        target=pair,
    )
    return settled


def _recorded(client_id: UUID, pair: Pair, actor: User) -> Adjudication | None:
    before = Adjudication.objects.filter(uuid=client_id).first()
    if before is not None and (before.pair_id, before.resolved_by_id) != (pair.pk, actor.pk):
        raise Conflict("Another resolution has this client id. Create a new id for each resolution.")
    return before


def store(pairs: Sequence[Pair], rows: Sequence[Adjudication], *, home: User) -> None:
    """Add resolutions of locked pairs, in the same order, each superseding the pair's newest one."""
    for start in range(0, len(pairs), pair_state.PART):
        part, new = pairs[start : start + pair_state.PART], rows[start : start + pair_state.PART]
        earlier = Adjudication.objects.filter(superseded_by__isnull=True, pair__in=[pair.pk for pair in part])
        newest = {row.pair_id: row for row in earlier}
        for row in new:
            row.supersedes = newest.get(row.pair_id)
        Adjudication.objects.bulk_create(new)
        resolved = new[0].grade is not None
        with pair_state.updating_counters(part[0].round, part, home=home):
            Pair.objects.filter(pk__in=[pair.pk for pair in part]).update(resolved=resolved)
            for pair in part:
                pair.resolved = resolved


@transaction.atomic
def undo(round_: Round, resolution: UUID, *, actor: User) -> Adjudication:
    """Undo the actor's own current resolution of a pair, which is open again. Undoing it twice changes nothing."""
    row = Adjudication.objects.filter(uuid=resolution, pair__round=round_, resolved_by=actor).first()
    if row is None or row.grade is None:
        raise NotFound("You have no such resolution in this round.")
    pair = Pair.objects.select_for_update().select_related("round", "query", "document").get(pk=row.pair_id)
    later = Adjudication.objects.filter(supersedes=row).first()
    if later is not None and later.grade is None:
        return later
    if later is not None:
        raise Conflict("The pair has a newer resolution, which stays.")
    check_not_frozen(round_, row.created_at)
    undone = undoing([row], actor=actor)
    store([pair], undone, home=first_rater(pair) or actor)
    sentence = f"{actor} undid the resolution of “{pair.query}” x {pair.document}"
    audit.record("adjudication.undo", sentence, actor=actor, collection=round_.collection, target=pair)
    return undone[0]


def undoing(rows: Sequence[Adjudication], *, actor: User, act: AuditRow | None = None) -> list[Adjudication]:
    """Return unsaved events that undo these resolutions; their examples that wait for a version are withdrawn."""
    keys = [row.pk for row in rows]
    for start in range(0, len(keys), pair_state.PART):
        examples = Example.objects.filter(adjudication__in=keys[start : start + pair_state.PART])
        examples.filter(version__isnull=True).delete()
    return [Adjudication(pair_id=row.pair_id, reason="Undone", resolved_by=actor, act=act) for row in rows]


def check_not_frozen(round_: Round, since: datetime) -> None:
    """Refuse to undo a resolution that is in the labels of a snapshot."""
    snapshot = round_.snapshots.filter(created_at__gte=since).order_by("created_at").first()
    if snapshot is not None:
        raise Conflict(
            f"The labels were frozen as “{snapshot}” after this resolution. You can no longer undo it, but you can "
            "resolve the pairs again for the next snapshot."
        )


def last_of(actor: Any, round_: Round) -> Adjudication | None:
    """Return the newest current resolution that the lead gave one by one, with its pair."""
    own = Adjudication.objects.current().filter(pair__round=round_, resolved_by=actor, act__isnull=True)
    return own.select_related("pair").order_by("-pk").first()


# The number of own texts that are offered as reasons, out of so many recent resolutions, and their longest length.
OFFERED, RECENT, SHORT = 5, 200, 200


def offered_reasons(actor: Any, round_: Round) -> list[str]:
    """Return the reasons to choose from: the causes, then the lead's own latest texts in this collection."""
    own = Adjudication.objects.filter(
        resolved_by=actor, pair__round__collection=round_.collection_id, grade__isnull=False, act__isnull=True
    )
    texts = dict.fromkeys(own.order_by("-pk").values_list("reason", flat=True)[:RECENT])
    causes = [str(cause.label) for cause in Adjudication.Cause]
    return [*causes, *[text for text in texts if text not in causes and len(text) <= SHORT][:OFFERED]]


def first_rater(pair: Pair) -> User | None:
    """Return the first rater of the pair, in whose counters its state is counted."""
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
    check_reason(reason)
    return ". ".join(filter(None, [causes.get(cause, ""), reason]))


def check_reason(reason: str) -> None:
    """Refuse a reason that is too long."""
    if len(reason) > LONGEST_REASON:
        problem = f"The reason has {len(reason):,} characters. The limit is {LONGEST_REASON:,}. Shorten it."
        raise NotValid(problem, "reason")
