"""Pairs of a round, their slots, and which rater holds which slot."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.document import Document
from judgments.models.fields import PublicModel
from judgments.models.query import Query
from judgments.models.round import Round
from judgments.models.user import User


class Pair(PublicModel):
    """One query with one document, in one round, and the reason why it is there."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="pairs")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="pairs")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="pairs")
    position = models.PositiveIntegerField()  # place in the round: queries whole, one after the other
    ratings_wanted = models.PositiveSmallIntegerField()
    origin = models.JSONField(default=dict)  # pool, strategy, step, seed, runs and ranks
    # Kept current under the pair's lock: how far its counted grades lie apart, and whether a lead settled it.
    spread = models.PositiveSmallIntegerField(default=0)
    settled = models.BooleanField(default=False)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["round", "query", "document"], name="pair_once_per_round"),
            models.UniqueConstraint(fields=["round", "position"], name="pair_position_once"),
            models.CheckConstraint(condition=Q(ratings_wanted__gte=1), name="pair_wants_a_rating"),
        ]
        indexes = [
            models.Index(fields=["round", "-spread", "position"], name="pair_in_conflict", condition=Q(spread__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.query} x {self.document}"


class Slot(models.Model):
    """Room for one rating of one pair. A pair with k ratings has k slots, so it can never get more that count.

    A slot is free, leased (``rater`` and ``lease_until``) or filled (``filled_by``). ``round``, ``position`` and
    ``language`` repeat what is known elsewhere, so that the next free slot is one step into an index however large the
    round is.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="slots")
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="slots")
    position = models.PositiveIntegerField()
    number = models.PositiveSmallIntegerField()
    language = models.CharField(max_length=35, blank=True)  # the query's
    rater = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="slots")
    lease_until = models.DateTimeField(null=True)
    # Not a OneToOneField: SQLite would take the index of that for the quickest way to all slots that are not filled.
    filled_by = models.ForeignKey("Judgment", null=True, on_delete=models.PROTECT, related_name="slot", db_index=False)

    class Meta:
        ordering = ["position", "number"]
        constraints = [
            models.UniqueConstraint(fields=["pair", "number"], name="slot_number_once"),
            models.UniqueConstraint(
                fields=["pair", "rater"], condition=Q(rater__isnull=False), name="slot_once_per_rater"
            ),
            models.UniqueConstraint(
                fields=["filled_by"], condition=Q(filled_by__isnull=False), name="slot_filled_by_one"
            ),
            models.CheckConstraint(
                condition=Q(filled_by__isnull=True) | Q(rater__isnull=False), name="filled_slot_has_rater"
            ),
            models.CheckConstraint(
                condition=Q(rater__isnull=False) | Q(lease_until__isnull=True), name="leased_slot_has_rater"
            ),
        ]
        indexes = [
            models.Index(
                fields=["round", "position", "lease_until"],
                name="slot_next_open",
                condition=Q(filled_by__isnull=True),
            ),
            models.Index(
                fields=["round", "number", "position", "lease_until"],
                name="slot_next_in_breadth",
                condition=Q(filled_by__isnull=True),
            ),
            models.Index(
                fields=["round", "language", "position", "lease_until"],
                name="slot_next_by_language",
                condition=Q(filled_by__isnull=True),
            ),
            # What is leased, and by whom: as many rows as raters hold, however many they have filled.
            models.Index(
                fields=["round", "rater", "lease_until"],
                name="slot_in_hand",
                condition=Q(filled_by__isnull=True, rater__isnull=False),
            ),
            models.Index(fields=["rater", "round"], name="slot_of_rater"),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of {self.pair_id}"


class Handout(models.Model):
    """That a pair was once given to a rater: an answer that comes late is told from one that was never asked for."""

    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="handouts")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="handouts")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pair", "rater"], name="handout_once")]

    def __str__(self) -> str:
        return f"{self.pair_id} to {self.rater_id}"
