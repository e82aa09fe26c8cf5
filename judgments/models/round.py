"""Rounds and their raters: pairs judged under one version of the guidelines and one scale."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models.document import DocumentKind
from judgments.models.fields import Archivable, ArchivableQuerySet, OpaqueIdField, PublicModel
from judgments.models.guidelines import GuidelinesVersion
from judgments.models.members.collection import Collection
from judgments.models.members.user import User
from judgments.models.query import QueryKind
from judgments.models.scale import Scale


class RoundQuerySet(ArchivableQuerySet):
    def open_to(self, user: Any) -> RoundQuerySet:
        """Filter the open rounds that the user rates in."""
        return self.filter(state=Round.State.OPEN, raters__user_id=user.pk, raters__left_at__isnull=True)


class Round(PublicModel, Archivable):
    """A set of pairs judged under one version of the guidelines and one scale."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        CLOSED = "closed", "closed"

    class Dimension(models.TextChoices):
        FAITHFUL = "faithful", "faithful"
        CORRECT = "correct", "correct"
        COMPLETE = "complete", "complete"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="rounds")
    name = models.CharField(max_length=120)
    state = models.CharField(max_length=6, choices=State.choices, default=State.DRAFT)
    # The graded dimension of answers; empty in a round of documents.
    dimension = models.CharField(max_length=8, choices=Dimension.choices, blank=True)
    scale = models.ForeignKey(Scale, on_delete=models.PROTECT, related_name="rounds")
    guidelines = models.ForeignKey(GuidelinesVersion, on_delete=models.PROTECT, related_name="rounds")
    ratings_per_pair = models.PositiveSmallIntegerField(default=2)
    overlap = models.FloatField(default=1.0)
    seed = models.BigIntegerField(default=1)
    # The pool's provenance, copied when the round is created, so that freezing needs no other app.
    provenance = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # A growing round can get more pairs while it is open, up to this number in all.
    most_pairs = models.PositiveIntegerField(null=True)
    growing = models.BooleanField(default=False)
    # Order of assignment: every pair once before second ratings, or one query after the other.
    breadth_first = models.BooleanField(default=False)
    # The grade difference that adds a rater, and the maximum of extra ratings per pair; None adds no raters.
    extra_at = models.PositiveSmallIntegerField(null=True)
    extra_most = models.PositiveSmallIntegerField(default=1)
    # Who can rate: invited raters, or all qualified raters of the collection who join.
    walk_in = models.BooleanField(default=False)
    qualification = models.CharField(max_length=60, blank=True)
    by_language = models.BooleanField(default=False)
    # Rater checks: the share of repeats, and the number of pairs per hidden gold pair.
    repeat_share = models.FloatField(default=0.0)
    gold_every = models.PositiveSmallIntegerField(null=True)
    # Raters must qualify if there is a pass mark: the share of correct gold pairs, and the allowed grade difference.
    pass_mark = models.FloatField(null=True)
    pass_within = models.PositiveSmallIntegerField(default=0)
    # The agreement gate of the round.
    gate_coefficient = models.CharField(max_length=40, default="alpha-ordinal")
    gate_threshold = models.FloatField(default=0.60)
    # The initial view of documents, which a rater can change.
    as_list = models.BooleanField(default=False)
    # Updated with every added pair or slot, so that pages need not count rows.
    pairs_made = models.PositiveIntegerField(default=0)
    slots_made = models.PositiveIntegerField(default=0)
    languages_made = models.JSONField(default=dict)  # pairs by the language of their query
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    objects = RoundQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="round_name_once"),
            models.CheckConstraint(condition=Q(state__in=["draft", "open", "closed"]), name="round_state_known"),
            models.CheckConstraint(
                condition=Q(dimension__in=["", "faithful", "correct", "complete"]), name="round_dimension_known"
            ),
            models.CheckConstraint(condition=Q(ratings_per_pair__gte=1), name="round_asks_for_a_rating"),
            models.CheckConstraint(condition=Q(overlap__gte=0, overlap__lte=1), name="round_overlap_is_a_share"),
            models.CheckConstraint(
                condition=Q(growing=False) | Q(most_pairs__isnull=False), name="round_grows_to_an_end"
            ),
            models.CheckConstraint(
                condition=Q(repeat_share__gte=0, repeat_share__lte=0.5), name="round_repeats_a_share"
            ),
            models.CheckConstraint(
                condition=Q(pass_mark__isnull=True) | Q(pass_mark__gt=0, pass_mark__lte=1),
                name="round_pass_mark_is_a_share",
            ),
            models.CheckConstraint(
                condition=Q(gate_threshold__gte=-1, gate_threshold__lte=1), name="round_gate_can_be_met"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def planned_ratings(self, pairs: int) -> int:
        """Return the number of planned ratings for this many pairs: k for overlapping pairs, one for the others."""
        return pairs + round(pairs * self.overlap) * (self.ratings_per_pair - 1)

    @property
    def of_answers(self) -> bool:
        """Whether raters grade answers of RAG systems rather than documents."""
        return bool(self.dimension)

    @property
    def kind(self) -> str:
        """The kind of item that raters grade: ``document`` or ``answer``."""
        return DocumentKind.ANSWER if self.dimension else DocumentKind.DOCUMENT

    @property
    def query_kind(self) -> str:
        """The kind of text above it: a ``query`` or a ``question``."""
        return QueryKind.QUESTION if self.dimension else QueryKind.QUERY

    @property
    def shows_reference(self) -> bool:
        """Whether raters see the reference answer; faithfulness depends only on the evidence."""
        return self.dimension in (self.Dimension.CORRECT, self.Dimension.COMPLETE)


class RoundRater(models.Model):
    """A rater of a round, under a pseudonym drawn from the round's seed."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="raters")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations")
    pseudonym = OpaqueIdField(max_length=12)
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True)
    # A paused rater gets no pairs until a lead resumes them. Their judgments stay unless they are excluded.
    paused_at = models.DateTimeField(null=True)
    pause_reason = models.CharField(max_length=500, blank=True)
    # When the rater qualified for the round, and the share that was right.
    calibrated_at = models.DateTimeField(null=True)
    calibration_share = models.FloatField(null=True)
    guidelines_read_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pseudonym"]
        constraints = [
            models.UniqueConstraint(fields=["round", "user"], name="round_rater_once"),
            models.UniqueConstraint(fields=["round", "pseudonym"], name="pseudonym_once_per_round"),
        ]

    def __str__(self) -> str:
        return self.pseudonym
