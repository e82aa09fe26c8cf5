"""Resolution of a conflict: a lead sets the grade of a pair and gives a reason."""

from __future__ import annotations

from django.db import transaction

from judgments import audit, extras
from judgments.core.errors import NotValid
from judgments.models import Adjudication, Judgment, Pair, User

LONGEST_REASON = 4_000
# Why raters differed: what a lead changes hangs on it. The words stand in front of the reason.
CAUSES = {
    "guidelines": "The guidelines leave it open",
    "slip": "A rater slipped",
    "query": "The query means several things",
    "document": "The document is odd",
}


@transaction.atomic
def settle(pair: Pair, *, grade: int, actor: User, reason: str = "", cause: str = "") -> Adjudication:
    """Settle a pair's grade, with a reason. Settling again supersedes the earlier settlement; both are kept.

    Whoever was called in for the pair and has not answered is needed no more: it is taken from them.

    Parameters
    ----------
    pair : Pair
        One whose raters differ, or that they could not judge.
    grade : int
        On the round's scale: the pair's label from now on.
    actor : User
        The lead who does it.
    reason : str
        For raters to read; may be empty where there is a cause.
    cause : str
        One of `CAUSES`, or "".

    Raises
    ------
    NotValid
        The grade is not on the round's scale, the cause is unknown, or there is neither reason nor cause.
    """
    values = pair.round.scale.values()
    if grade not in values:
        known = ", ".join(map(str, values))
        raise NotValid(f"{grade} is not a grade of this round.", {"grade": f"The grades are {known}."})
    why = _why(reason.strip(), cause)
    locked = Pair.objects.select_for_update().get(pk=pair.pk)
    before = Adjudication.objects.filter(pair=pair, superseded_by__isnull=True).first()
    settled = Adjudication.objects.create(pair=pair, grade=grade, reason=why, settled_by=actor, supersedes=before)
    with extras.kept(pair.round, [locked], home=_first_rater(pair) or actor):
        Pair.objects.filter(pk=pair.pk).update(settled=True)
        locked.settled = True
    audit.record(
        "adjudication.settle",
        # Not as what, which the settlement itself keeps: who reads this may still have to grade the pair.
        f"{actor} settled “{pair.query}” x {pair.document}",
        actor=actor,
        collection=pair.round.collection,
        target=pair,
    )
    return settled


def _first_rater(pair: Pair) -> User | None:
    first = Judgment.objects.filter(pair=pair).select_related("rater").order_by("pk").first()
    return first.rater if first is not None else None


def _why(reason: str, cause: str) -> str:
    """The reason as it is kept: the cause in words, then what was written."""
    if cause and cause not in CAUSES:
        raise NotValid(f"There is no cause {cause!r}.", {"cause": f"One of {', '.join(CAUSES)}, or none."})
    if not reason and not cause:
        raise NotValid("A settlement needs a reason.", {"reason": "Say in one sentence why; raters learn from it."})
    if len(reason) > LONGEST_REASON:
        said = f"{len(reason):,} characters; {LONGEST_REASON:,} at most."
        raise NotValid(f"The reason has {said}", {"reason": said})
    return ". ".join(filter(None, [CAUSES.get(cause, ""), reason]))


def parts(why: str) -> tuple[str, str]:
    """The cause and what was written beside it, of a reason as it is kept.

    Examples
    --------
    >>> parts("A rater slipped. It is for men."), parts("A rater slipped"), parts("It is for men.")
    (('slip', 'It is for men.'), ('slip', ''), ('', 'It is for men.'))
    """
    for cause, words in CAUSES.items():
        if why == words:
            return cause, ""
        if why.startswith(f"{words}. "):
            return cause, why.removeprefix(f"{words}. ")
    return "", why
