"""Decisions between systems: the plan, its round, and the verdict on each candidate."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from assay.sequential import ALPHA, DELTA
from judgments.models import Collection, Query, Round, User
from judgments.models.fields import Named, PublicModel, check, unique
from pooling.models import Run

VERDICTS = ("better", "worse", "equivalent", "undecided")


class Decision(Named, PublicModel):
    """A comparison of candidates with a baseline whose queries are judged one by one until there is a verdict."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="decisions")
    name = models.CharField(max_length=120)
    # None if the lists are identical for every query, so that nothing needs judging.
    round = models.OneToOneField(Round, null=True, on_delete=models.PROTECT, related_name="decision")
    baseline = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    metric = models.CharField(max_length=100)
    # The number of documents of each list that are judged: the cutoff of the metric.
    depth = models.PositiveSmallIntegerField()
    delta = models.FloatField(default=DELTA)
    alpha = models.FloatField(default=ALPHA)
    method = models.CharField(max_length=20)
    planned = models.PositiveIntegerField(null=True)
    # Documents at the same rank in all lists are not judged.
    skips_same_rank = models.BooleanField(default=False)
    closes = models.BooleanField(default=True)
    # The query ids in the random order of judging, and the sampling weight of each if they were drawn by tier.
    order = models.JSONField()
    weights = models.JSONField(default=dict)
    # Queries whose lists are identical: the difference is 0, so they are not judged.
    identical = models.PositiveIntegerField(default=0)
    # The file with the first documents of each run.
    path = models.CharField(max_length=255)
    # Queries of the collection that no system answers.
    unanswered = models.PositiveIntegerField(default=0)
    seed = models.BigIntegerField()
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            unique("decision_name_once", "collection", "name"),
            check("decision_delta_positive", delta__gt=0),
            check("decision_alpha_in_0_05", alpha__gt=0, alpha__lt=0.5),
        ]


class Candidate(models.Model):
    """A run that a decision compares with the baseline; its first verdict remains."""

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="candidates")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="decided_as")
    verdict = models.CharField(max_length=10, default="undecided")
    # The verdict with its numbers at that moment, as `assay decide --format json` prints them; empty while undecided.
    result = models.JSONField(default=dict)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            unique("candidate_once", "decision", "run"),
            check("candidate_verdict_known", verdict__in=list(VERDICTS)),
            check("candidate_decided_with_result", Q(verdict="undecided") | Q(decided_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.run.name


class ListJudge(PublicModel):
    """A person who compares whole lists of a decision, and therefore rates no documents of its queries."""

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="list_judges")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [unique("list_judge_once", "decision", "user")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.decision_id}"


class ListPreference(models.Model):
    """Which of two lists a person preferred for a query; the newest counts."""

    class Choice(models.TextChoices):
        CANDIDATE = "candidate", "candidate"
        BASELINE = "baseline", "baseline"
        SAME = "same", "same"

    judge = models.ForeignKey(ListJudge, on_delete=models.CASCADE, related_name="preferences")
    candidate = models.ForeignKey(Candidate, on_delete=models.CASCADE, related_name="preferences")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    choice = models.CharField(max_length=9, choices=Choice.choices)
    # Whether the candidate was on the left.
    candidate_left = models.BooleanField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [check("list_choice_known", choice__in=["candidate", "baseline", "same"])]

    def __str__(self) -> str:
        return f"{self.query_id}: {self.choice}"
