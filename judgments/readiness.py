"""Steps required before a rater gets pairs of a round: the end of a pause, or qualification."""

from __future__ import annotations

from django.urls import reverse

from judgments import access
from judgments.core.errors import CalibrationFirst, Paused
from judgments.models import GoldPair, Role, Round, RoundRater, User


def asked_for(round_: Round) -> bool:
    """Whether the round asks its raters to calibrate: it has a mark, and pairs to calibrate by."""
    return round_.pass_mark is not None and round_.gold.filter(use=GoldPair.Use.CALIBRATION).exists()


def comes_first(round_: Round, asked: RoundRater) -> bool:
    """Whether this rater has to calibrate before they are handed anything. Whoever leads knows the grades already."""
    if asked.calibrated_at is not None or not asked_for(round_):
        return False
    return access.role_in(asked.user, round_.collection) != Role.LEAD


def require(round_: Round, rater: User, asked: RoundRater | None = None) -> None:
    """That nothing comes first for a rater who asks for pairs. What they were handed before, they may still answer.

    Raises
    ------
    Paused
        With the reason that the lead gave.
    CalibrationFirst
        With the address of the page.
    """
    asked = asked or RoundRater.objects.select_related("user").filter(round=round_, user=rater).first()
    if asked is None:
        return
    if asked.paused_at is not None:
        why = f" The reason: {asked.pause_reason}" if asked.pause_reason else ""
        raise Paused(f"The lead asks you to pause in round {round_}; nothing that you sent is lost.{why}")
    if comes_first(round_, asked):
        page = reverse("calibrate", args=[round_.uuid])
        raise CalibrationFirst(
            f"Round {round_} begins with a calibration: a few pairs whose grade is known, with an answer to each. "
            f"It is at {page}."
        )
