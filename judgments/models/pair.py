"""Pairs of a round, their slots, and which rater holds which slot."""

from __future__ import annotations

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet

from judgments.models.document import Document
from judgments.models.fields import PublicModel
from judgments.models.members.user import User
from judgments.models.query import Query
from judgments.models.round import Round

# Up to this number of empty slots they are listed; beyond it, each pair is looked up.
FEW_SLOTS = 20_000


class PairQuerySet(models.QuerySet):
    def in_conflict(self, round_: Round, *, hidden: QuerySet[Pair] | None, steps: int = 1) -> PairQuerySet:
        """Filter a round's conflicts, the widest first: grades differ by at least this many steps, and none is
        missing."""
        # This repeats the condition of the index, so that the database uses it.
        apart = self.filter(round=round_, spread__gt=0, spread__gte=steps)
        if round_.state == Round.State.OPEN:
            apart = apart.complete(round_)
        if hidden is not None:
            apart = apart.exclude(pk__in=hidden.values("pk"))
        return apart.order_by("-spread", "position")

    def complete(self, round_: Round) -> PairQuerySet:
        """Filter the pairs of a round whose slots are all filled, by the cheaper of two queries."""
        waiting = Slot.objects.filter(round=round_, filled_by__isnull=True).order_by()
        missing = waiting[: FEW_SLOTS + 1].count()
        if missing > FEW_SLOTS:
            return self.filter(~Exists(waiting.filter(pair=OuterRef("pk"))))
        return self.exclude(pk__in=waiting.values("pair")) if missing else self

    def unresolved(self) -> PairQuerySet:
        """Filter the pairs that no lead has resolved."""
        return self.filter(resolved=False)


class Pair(PublicModel):
    """One query with one document in one round, and the reason why it was chosen."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="pairs")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="pairs")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="pairs")
    position = models.PositiveIntegerField()  # position in the round, grouped by query
    ratings_wanted = models.PositiveSmallIntegerField()
    origin = models.JSONField(default=dict)  # pool, strategy, step, seed, runs and ranks
    # Updated under the pair's lock: the largest difference of counted grades, and whether a lead resolved it.
    spread = models.PositiveSmallIntegerField(default=0)
    resolved = models.BooleanField(default=False, db_column="settled")

    objects = PairQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["round", "query", "document"], name="pair_once_per_round"),
            models.UniqueConstraint(fields=["round", "position"], name="pair_position_once"),
            models.CheckConstraint(condition=Q(ratings_wanted__gte=1), name="pair_wants_a_rating"),
        ]
        indexes = [
            models.Index(fields=["round", "-spread", "position"], name="pair_in_conflict", condition=Q(spread__gt=0)),
            # Counts of open and of resolved conflicts, which the overview shows.
            models.Index(fields=["round", "resolved", "spread"], name="pair_resolved", condition=Q(spread__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.query} x {self.document}"


class Slot(models.Model):
    """Room for one rating of one pair. A pair with k ratings has k slots, so it can never get more that count."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="slots")
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="slots")
    position = models.PositiveIntegerField()
    number = models.PositiveSmallIntegerField()
    language = models.CharField(max_length=35, blank=True)  # the query's
    rater = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="slots")
    lease_until = models.DateTimeField(null=True)
    # Not a OneToOneField: SQLite would use its index to find unfilled slots, which is slow.
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
            # Leased slots by rater: as many rows as raters hold, however many they have filled.
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
    """A record that a rater once got a pair, so that a late answer can be accepted."""

    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="handouts")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="handouts")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pair", "rater"], name="handout_once")]

    def __str__(self) -> str:
        return f"{self.pair_id} to {self.rater_id}"
