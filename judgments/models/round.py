"""Which batch of pairs is judged under which guidelines and scale, and by whom?"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models.collection import Collection
from judgments.models.fields import OpaqueIdField, PublicModel
from judgments.models.guidelines import GuidelinesVersion
from judgments.models.scale import Scale
from judgments.models.user import User


class RoundQuerySet(models.QuerySet["Round"]):
    def open_to(self, user: Any) -> RoundQuerySet:
        """The open rounds that the user was asked to rate in."""
        return self.filter(state=Round.State.OPEN, raters__user_id=user.pk, raters__left_at__isnull=True)


class Round(PublicModel):
    """One batch of pairs judged under ONE version of the guidelines and ONE scale."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        CLOSED = "closed", "closed"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="rounds")
    name = models.CharField(max_length=120)
    state = models.CharField(max_length=6, choices=State.choices, default=State.DRAFT)
    scale = models.ForeignKey(Scale, on_delete=models.PROTECT, related_name="rounds")
    guidelines = models.ForeignKey(GuidelinesVersion, on_delete=models.PROTECT, related_name="rounds")
    ratings_per_pair = models.PositiveSmallIntegerField(default=2)
    overlap = models.FloatField(default=1.0)
    seed = models.BigIntegerField(default=1)
    # What the pool says about itself, copied when the round is made, so that freezing needs nothing from above.
    provenance = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # A round may take more pairs while it is open: at most so many in all, as long as somebody goes on choosing.
    most_pairs = models.PositiveIntegerField(null=True)
    growing = models.BooleanField(default=False)
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    objects = RoundQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="round_name_once"),
            models.CheckConstraint(condition=Q(state__in=["draft", "open", "closed"]), name="round_state_known"),
            models.CheckConstraint(condition=Q(ratings_per_pair__gte=1), name="round_asks_for_a_rating"),
            models.CheckConstraint(condition=Q(overlap__gte=0, overlap__lte=1), name="round_overlap_is_a_share"),
            models.CheckConstraint(
                condition=Q(growing=False) | Q(most_pairs__isnull=False), name="round_grows_to_an_end"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RoundRater(models.Model):
    """A person who was asked to rate in a round, under a pseudonym drawn from the round's seed."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="raters")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations")
    pseudonym = OpaqueIdField(max_length=12)
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pseudonym"]
        constraints = [
            models.UniqueConstraint(fields=["round", "user"], name="round_rater_once"),
            models.UniqueConstraint(fields=["round", "pseudonym"], name="pseudonym_once_per_round"),
        ]

    def __str__(self) -> str:
        return self.pseudonym
