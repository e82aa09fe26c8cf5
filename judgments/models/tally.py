"""Counters of a rater's answers in a round, and its latest agreement report, to avoid counting all rows."""

from __future__ import annotations

from django.db import models

from judgments.models.round import Round
from judgments.models.user import User


class Tally(models.Model):
    """How many answers of each kind one rater has standing in one round, written together with each answer.

    One row a rater, so that raters who answer at the same moment seldom wait for each other.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="tallies")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    graded = models.PositiveIntegerField(default=0)
    unrateable = models.PositiveIntegerField(default=0)
    later = models.PositiveIntegerField(default=0)
    surplus = models.PositiveIntegerField(default=0)  # among the three above
    filled = models.PositiveIntegerField(default=0)  # slots that this rater filled
    events = models.PositiveIntegerField(default=0)  # everything that ever happened: tells one state from another
    # Active seconds of graded answers, counted by the class of their length: enough for a median.
    seconds = models.JSONField(default=dict)
    # How many pairs are open to whom, without counting pairs: see tallies.py.
    places = models.JSONField(default=dict)
    reached = models.PositiveIntegerField(null=True)  # the place in the round of what was answered last
    last_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "rater"], name="tally_once_per_rater")]

    def __str__(self) -> str:
        return f"{self.graded} graded by {self.rater_id}"


class RoundReport(models.Model):
    """The agreement of a round as it was computed last, and the state of the round that it stands on."""

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="report")
    events = models.PositiveIntegerField()  # the sum over the tallies when it was computed
    report = models.JSONField()
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"report of {self.round_id}"
