"""Model of the last computed effects of a large round's labels, with the state of the round at that time."""

from __future__ import annotations

from django.db import models

from judgments.models import Round


class RoundEffect(models.Model):
    """The last computed effects of a round's labels on the collection's runs."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="effects")
    # The computation and its arguments.
    name = models.CharField(max_length=200)
    state = models.CharField(max_length=64)  # evaluation.effects.round_runs.state_key at the time of the computation
    events = models.PositiveIntegerField()  # the sum over the tallies at the time of the computation
    effects = models.JSONField(db_column="found")
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "name"], name="round_effect_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.round_id}"
