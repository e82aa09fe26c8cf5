"""How is a conflict settled?"""

from __future__ import annotations

from django.db import transaction

from judgments import audit
from judgments.core.errors import NotValid
from judgments.models import Adjudication, Pair, User

LONGEST_REASON = 4_000


@transaction.atomic
def settle(pair: Pair, *, grade: int, reason: str, actor: User) -> Adjudication:
    """Settle a pair's grade, with a reason. Settling again supersedes the earlier settlement; both are kept.

    Raises
    ------
    NotValid
        The grade is not on the round's scale, or there is no reason.
    """
    values = pair.round.scale.values()
    if grade not in values:
        known = ", ".join(map(str, values))
        raise NotValid(f"{grade} is not a grade of this round.", {"grade": f"The grades are {known}."})
    if not reason.strip():
        raise NotValid("A settlement needs a reason.", {"reason": "Say in one sentence why; raters learn from it."})
    Pair.objects.select_for_update().get(pk=pair.pk)
    before = Adjudication.objects.filter(pair=pair, superseded_by__isnull=True).first()
    settled = Adjudication.objects.create(
        pair=pair, grade=grade, reason=reason.strip(), settled_by=actor, supersedes=before
    )
    audit.record(
        "adjudication.settle",
        # Not as what, which the settlement itself keeps: who reads this may still have to grade the pair.
        f"{actor} settled “{pair.query}” x {pair.document}",
        actor=actor,
        collection=pair.round.collection,
        target=pair,
    )
    return settled
