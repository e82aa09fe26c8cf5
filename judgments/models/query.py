"""Queries with their need, tier, traffic and weight, their samples, strata, and groups of spellings of one need."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models.fields import FirstWords, Named, OfKind, OpaqueIdField, PublicModel, check, unique
from judgments.models.members.collection import Collection


class Stratum(Named, PublicModel):
    """A named part of the traffic that is sampled on its own: a category, a language, a market."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="strata")
    name = OpaqueIdField(max_length=100)
    share = models.FloatField()
    part_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="parts")
    filters = models.JSONField(default=dict)  # the filter of the log: words, queries, language
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "strata"
        constraints = [
            unique("stratum_name_once", "collection", "name"),
            check("stratum_has_name", ~Q(name="")),
            check("stratum_share_in_0_1", share__gt=0, share__lte=1),
        ]


class Place(models.Model):
    """A query's sampling weight in a further stratum; its first stratum is in its own columns."""

    query = models.ForeignKey("judgments.Query", on_delete=models.CASCADE, related_name="places")
    stratum = models.ForeignKey(Stratum, on_delete=models.PROTECT, related_name="places")
    sample = models.ForeignKey("judgments.QuerySample", null=True, on_delete=models.PROTECT, related_name="places")
    tier = models.CharField(max_length=5, blank=True)
    frequency = models.BigIntegerField(null=True)
    clients = models.BigIntegerField(null=True)
    probability = models.FloatField()
    weight = models.FloatField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            unique("place_once_per_stratum", "query", "stratum"),
            check("place_tier_known", tier__in=["", *("head", "torso", "tail")]),
            check("place_probability_in_0_1", probability__gt=0, probability__lte=1),
            check("place_weight_positive", weight__gte=0),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} in {self.stratum}"


class QueryGroup(Named, PublicModel):
    """A group of queries with the same need, named in their column ``group``."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="query_groups")
    name = OpaqueIdField()
    shares = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            unique("query_group_name_once", "collection", "name"),
            check("query_group_has_name", ~Q(name="")),
        ]

    @property
    def queries(self) -> models.QuerySet[Any]:
        """The queries of the group, the most frequent first."""
        rows = self.collection.queries.filter(group=self.name)
        return rows.order_by(models.F("frequency").desc(nulls_last=True), "query_id")


class RefusedProposal(models.Model):
    """Queries that a lead refused to group, so that they are not proposed again."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="refused_proposals")
    key = models.CharField(max_length=64)  # hash of the query ids

    class Meta:
        constraints = [unique("refused_proposal_once", "collection", "key")]

    def __str__(self) -> str:
        return self.key


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
        indexes = [models.Index("collection", FirstWords("text"), name="query_by_first_words")]
        constraints = [
            unique("query_id_once", "collection", "kind", "query_id"),
            check("query_kind_known", kind__in=["query", "question"]),
            check("query_has_id_and_text", ~Q(query_id="") & ~Q(text="")),
            check("query_tier_known", tier__in=["", *("head", "torso", "tail")]),
            check("query_probability_in_0_1", Q(probability__isnull=True) | Q(probability__gt=0, probability__lte=1)),
            check("query_weight_positive", Q(weight__isnull=True) | Q(weight__gte=0)),
            check("query_frequency_positive", Q(frequency__isnull=True) | Q(frequency__gte=0)),
        ]

    def __str__(self) -> str:
        return self.text
