"""Resolution of a conflict: a lead sets the grade of a pair and gives a reason."""

from __future__ import annotations

from django.db import transaction

from assay.core.errors import NotValid
from judgments.models import Adjudication, Judgment, Pair, User, audit
from judgments.rating import extra_ratings

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
    with extra_ratings.updating_counters(pair.round, [locked], home=_first_rater(pair) or actor):
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
            f"Unknown cause {cause!r}.", {"cause": f"Known causes: {', '.join(causes)}. You can leave it empty."}
        )
    if not reason and not cause:
        raise NotValid(
            "A resolution needs a reason.", {"reason": "Give the reason in one sentence. Raters will read it."}
        )
    if len(reason) > LONGEST_REASON:
        problem = f"The reason has {len(reason):,} characters. The limit is {LONGEST_REASON:,}."
        raise NotValid(f"The reason has {problem}", {"reason": problem})
    return ". ".join(filter(None, [causes.get(cause, ""), reason]))
