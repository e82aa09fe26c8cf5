"""Strata of the traffic, and groups of queries that are spellings of one need."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models.fields import OpaqueIdField, PublicModel
from judgments.models.members.collection import Collection


class Stratum(PublicModel):
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
            models.UniqueConstraint(fields=["collection", "name"], name="stratum_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="stratum_has_name"),
            models.CheckConstraint(condition=Q(share__gt=0, share__lte=1), name="stratum_share_in_0_1"),
        ]

    def __str__(self) -> str:
        return self.name


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
            models.UniqueConstraint(fields=["query", "stratum"], name="place_once_per_stratum"),
            models.CheckConstraint(condition=Q(tier__in=["", *("head", "torso", "tail")]), name="place_tier_known"),
            models.CheckConstraint(condition=Q(probability__gt=0, probability__lte=1), name="place_probability_in_0_1"),
            models.CheckConstraint(condition=Q(weight__gte=0), name="place_weight_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} in {self.stratum}"


class QueryGroup(PublicModel):
    """A group of queries with the same need, named in their column ``group``."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="query_groups")
    name = OpaqueIdField()
    shares = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="query_group_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="query_group_has_name"),
        ]

    def __str__(self) -> str:
        return self.name

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
        constraints = [models.UniqueConstraint(fields=["collection", "key"], name="refused_proposal_once")]

    def __str__(self) -> str:
        return self.key
