"""Scores, freshness checks and rater effects in the database."""

from __future__ import annotations

from django.db import models

from judgments.models import Collection, Round, Snapshot, User
from judgments.models.fields import PublicModel
from pooling.models import Run


class FreshnessCheck(PublicModel):
    """A complete freshness check of a snapshot; ``created_by`` is empty if the server started it."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="freshness_checks")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="freshness_checks")
    state = models.CharField(max_length=10)
    # The report in the API's format, and counts of the judged queries in the newest log.
    report = models.JSONField(default=dict)
    traffic = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["fresh", "warn", "stale", "unknown"]), name="freshness_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.snapshot}: {self.state}"


class FreshnessReading(models.Model):
    """The last freshness reading of a snapshot; computed again after its data changed."""

    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, related_name="freshness_reading")
    state = models.CharField(max_length=50)
    report = models.JSONField()
    read_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.snapshot}: {self.report['state']}"


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


class Scoring(PublicModel):
    """One run scored on one snapshot, with its diagnostics."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="scorings")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="scorings")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scorings")
    diagnostics = models.JSONField(default=dict)
    # Effect of the sampling design: the numbers of drawn, judged and weighted queries, and why a weighted mean is
    # missing.
    design = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["snapshot", "run"], name="scoring_once")]

    def __str__(self) -> str:
        return f"{self.run} on {self.snapshot}"


class Score(models.Model):
    """One metric of a scoring: its means with intervals, and the value of every query."""

    scoring = models.ForeignKey(Scoring, on_delete=models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=100)
    mean = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    weighted = models.FloatField(null=True)
    weighted_low = models.FloatField(null=True)
    weighted_high = models.FloatField(null=True)
    effective_queries = models.FloatField(null=True)
    weighted_reason = models.CharField(max_length=200, blank=True)
    by_tier = models.JSONField(default=dict)
    level = models.FloatField(default=0.95)
    method = models.CharField(max_length=20, default="percentile")
    reason = models.CharField(max_length=200, blank=True)
    queries = models.IntegerField()
    per_query = models.JSONField(default=dict)
    computed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["scoring", "metric"], name="score_once")]

    def __str__(self) -> str:
        return f"{self.metric} {self.mean}"
