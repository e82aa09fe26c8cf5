"""Models of growing rounds: the plan for choosing pairs, and the input of each step."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models import Job, Round
from judgments.models.fields import PublicModel
from pooling.models.pool import Pool


class Refill(PublicModel):
    """A plan to extend the pool of an adaptive strategy together with one round, up to ``round.most_pairs``."""

    class End(models.TextChoices):
        GOING = "", "in progress"
        BUDGET = "budget", "the budget is used up"
        STRATEGY = "strategy", "the strategy has nothing left to choose"
        STOPPED = "stopped", "a lead stopped choosing pairs"

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="refill")
    pool = models.OneToOneField(Pool, on_delete=models.PROTECT, related_name="refill")
    batch = models.PositiveSmallIntegerField()  # number of pairs of a query chosen at a time
    pairs_per_query = models.PositiveIntegerField(null=True)
    residual = models.PositiveIntegerField(default=0)  # drawn at random from the remaining pairs after choosing ends
    steps = models.PositiveIntegerField(default=0)
    # Queries for which the strategy had no pairs, with their number of judged pairs at that time; they are tried again
    # later.
    dry = models.JSONField(default=dict)
    ended = models.CharField(max_length=10, choices=End.choices, blank=True, default="")
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(batch__gte=1), name="refill_takes_a_pair"),
            models.CheckConstraint(
                condition=Q(ended__in=["", "budget", "strategy", "stopped"]), name="refill_end_known"
            ),
        ]

    def __str__(self) -> str:
        return f"refill of {self.round}"


class RefillStep(models.Model):
    """One run of the strategy, with its input: the known grades of the queries, by pair."""

    refill = models.ForeignKey(Refill, on_delete=models.CASCADE, related_name="asked")
    number = models.PositiveIntegerField()
    # Query to document to grade; null for an open pair, from which the strategy cannot learn yet.
    known = models.JSONField(default=dict)
    added = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["refill", "number"], name="refill_step_once")]

    def __str__(self) -> str:
        return f"step {self.number} of {self.refill_id}"
