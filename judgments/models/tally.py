"""Counters of a rater's answers in a round, and its latest agreement report, to avoid counting all rows."""

from __future__ import annotations

from django.db import models

from judgments.models.members.user import User
from judgments.models.round import Round


class Tally(models.Model):
    """Counters of one rater's current answers in one round, updated with each answer."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="tallies")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    graded = models.PositiveIntegerField(default=0)
    unrateable = models.PositiveIntegerField(default=0)
    later = models.PositiveIntegerField(default=0)
    surplus = models.PositiveIntegerField(default=0)  # among the three above
    filled = models.PositiveIntegerField(default=0)  # slots that this rater filled
    events = models.PositiveIntegerField(default=0)  # all events, which identifies the state
    # Active seconds of graded answers, counted in duration classes, which is enough for a median.
    seconds = models.JSONField(default=dict)
    # Pairs open to each rater, without counting pairs: see `judgments.rating.pair_state`.
    places = models.JSONField(default=dict)
    reached = models.PositiveIntegerField(null=True)  # position of the last answered pair
    last_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "rater"], name="tally_once_per_rater")]

    def __str__(self) -> str:
        return f"{self.graded} graded by {self.rater_id}"


class RoundReport(models.Model):
    """The last computed agreement of a round, and the state of the round that it describes."""

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="report")
    events = models.PositiveIntegerField()  # the sum over the tallies when it was computed
    report = models.JSONField()
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"report of {self.round_id}"
