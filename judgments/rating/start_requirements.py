"""Requirements before a rater gets pairs of a round: not paused, and qualified."""

from __future__ import annotations

from django.urls import reverse

from assay.core.errors import CalibrationFirst, Paused
from judgments.models import GoldPair, Role, Round, RoundRater, User
from judgments.web import access


def requires_qualification(round_: Round) -> bool:
    """Return whether raters must qualify: the round has a pass mark and gold pairs for it."""
    return round_.pass_mark is not None and round_.gold.filter(use=GoldPair.Use.CALIBRATION).exists()


def must_qualify(round_: Round, round_rater: RoundRater) -> bool:
    """Return whether this rater must qualify before they get pairs. Leads need not, because they can see the grades."""
    if round_rater.calibrated_at is not None or not requires_qualification(round_):
        return False
    return access.role_in(round_rater.user, round_.collection) != Role.LEAD


def check_ready(round_: Round, rater: User, round_rater: RoundRater | None = None) -> None:
    """Refuse pairs to a rater who is paused or not qualified. They may still answer the pairs they hold."""
    round_rater = round_rater or RoundRater.objects.select_related("user").filter(round=round_, user=rater).first()
    if round_rater is None:
        return
    if round_rater.paused_at is not None:
        why = f" The reason: {round_rater.pause_reason}" if round_rater.pause_reason else ""
        raise Paused(f"The lead paused your work in round {round_}. All of your answers are stored.{why}")
    if must_qualify(round_, round_rater):
        page = reverse("calibrate", args=[round_.uuid])
        raise CalibrationFirst(
            f"Round {round_} begins with a qualification, in which you grade a few gold pairs and see the expert "
            f"grade of each. Start it at {page}."
        )
