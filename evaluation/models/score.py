"""Models of scores: a run measured against a snapshot, per query and on average."""

from __future__ import annotations

from django.db import models

from judgments.models import Collection, Snapshot, User
from judgments.models.fields import PublicModel
from pooling.models import Run


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
