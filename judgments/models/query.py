"""Queries with their need, tier, traffic and weight, and the samples they were drawn in."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import OfKind, OpaqueIdField, PublicModel
from judgments.models.members.collection import Collection
from judgments.models.stratum import Stratum


class QuerySample(PublicModel):
    """One sample of queries from a log, with everything needed to draw it again."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="query_samples")
    log_name = models.CharField(max_length=200)
    log_sha256 = models.CharField(max_length=64)
    method = models.CharField(max_length=20)
    seed = models.BigIntegerField()
    parameters = models.JSONField(default=dict)  # n per tier, shares at the cuts, window in days
    frame = models.JSONField(default=dict)  # distinct queries, searches, first and last day, counts per tier
    curve = models.JSONField(default=list)  # [rank, cumulative share] points for the picture
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.log_name}, seed {self.seed}"


class QueryKind(models.TextChoices):
    QUERY = "query", "query"
    QUESTION = "question", "question"


class Queries(OfKind):
    """The queries of a collection, without the questions of answer rounds."""

    kind = QueryKind.QUERY


class Questions(OfKind):
    """The questions of a collection's answer rounds."""

    kind = QueryKind.QUESTION


class Query(PublicModel):
    """The text of a search, with its need, tier, traffic and weight."""

    Kind = QueryKind

    class Tier(models.TextChoices):
        HEAD = "head", "head"
        TORSO = "torso", "torso"
        TAIL = "tail", "tail"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="queries")
    kind = models.CharField(max_length=8, choices=QueryKind.choices, default=QueryKind.QUERY)
    query_id = OpaqueIdField()
    text = models.CharField(max_length=2048)
    narrative = models.TextField(blank=True)
    # An unconfirmed narrative; raters never see it.
    draft = models.TextField(blank=True)
    drafted_by = models.CharField(max_length=60, blank=True)
    group = OpaqueIdField(blank=True)
    language = models.CharField(max_length=35, blank=True)  # a tag such as ``de`` or ``pt-BR``; empty is not known
    tier = models.CharField(max_length=5, choices=Tier.choices, blank=True)
    frequency = models.BigIntegerField(null=True)
    clients = models.BigIntegerField(null=True)
    probability = models.FloatField(null=True)
    weight = models.FloatField(null=True)
    raw_row = models.JSONField(null=True)
    sample = models.ForeignKey(QuerySample, null=True, on_delete=models.PROTECT, related_name="queries")
    # For collections with strata; tier, probability and weight apply within it. Further strata are in `Place`.
    stratum = models.ForeignKey(Stratum, null=True, on_delete=models.PROTECT, related_name="queries")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = Queries()
    questions = Questions()
    of_any_kind = models.Manager()

    class Meta:
        ordering = ["query_id"]
        verbose_name_plural = "queries"
        constraints = [
            models.UniqueConstraint(fields=["collection", "kind", "query_id"], name="query_id_once"),
            models.CheckConstraint(condition=Q(kind__in=["query", "question"]), name="query_kind_known"),
            models.CheckConstraint(condition=~Q(query_id="") & ~Q(text=""), name="query_has_id_and_text"),
            models.CheckConstraint(condition=Q(tier__in=["", *("head", "torso", "tail")]), name="query_tier_known"),
            models.CheckConstraint(
                condition=Q(probability__isnull=True) | Q(probability__gt=0, probability__lte=1),
                name="query_probability_in_0_1",
            ),
            models.CheckConstraint(condition=Q(weight__isnull=True) | Q(weight__gte=0), name="query_weight_positive"),
            models.CheckConstraint(
                condition=Q(frequency__isnull=True) | Q(frequency__gte=0), name="query_frequency_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.text
