"""Rounds and their raters: pairs judged under one version of the guidelines and one scale."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models.collection import Collection
from judgments.models.document import DocumentKind
from judgments.models.fields import Archivable, ArchivableQuerySet, OpaqueIdField, PublicModel
from judgments.models.guidelines import GuidelinesVersion
from judgments.models.query import QueryKind
from judgments.models.scale import Scale
from judgments.models.user import User


class RoundQuerySet(ArchivableQuerySet):
    def open_to(self, user: Any) -> RoundQuerySet:
        """The open rounds that the user was asked to rate in."""
        return self.filter(state=Round.State.OPEN, raters__user_id=user.pk, raters__left_at__isnull=True)


class Round(PublicModel, Archivable):
    """One batch of pairs judged under ONE version of the guidelines and ONE scale."""

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
    # What is graded about answers; empty in a round of documents.
    dimension = models.CharField(max_length=8, choices=Dimension.choices, blank=True)
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
    # How pairs are handed out: every pair once before any a second time, or each query to its end.
    breadth_first = models.BooleanField(default=False)
    # Two grades so many steps apart call in another rater, at most so many more for a pair; None calls in nobody.
    extra_at = models.PositiveSmallIntegerField(null=True)
    extra_most = models.PositiveSmallIntegerField(default=1)
    # Who may rate: those who were asked, or whoever of the collection's raters fits and comes by.
    walk_in = models.BooleanField(default=False)
    qualification = models.CharField(max_length=60, blank=True)
    by_language = models.BooleanField(default=False)
    # What is asked beside the ratings: the share of own pairs shown again, and one pair of known grade in so many.
    repeat_share = models.FloatField(default=0.0)
    gold_every = models.PositiveSmallIntegerField(null=True)
    # Calibration comes first where there is a mark: the share of its pairs to be right, within so many steps.
    pass_mark = models.FloatField(null=True)
    pass_within = models.PositiveSmallIntegerField(default=0)
    # The gate that the round's agreement is held against.
    gate_coefficient = models.CharField(max_length=40, default="alpha-ordinal")
    gate_threshold = models.FloatField(default=0.60)
    # How documents are shown at first; a rater may choose otherwise.
    as_list = models.BooleanField(default=False)
    # Kept current by whoever adds pairs or slots, so that nobody counts a million rows to show a page.
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

    @property
    def of_answers(self) -> bool:
        """Whether raters grade answers of RAG systems rather than documents."""
        return bool(self.dimension)

    @property
    def kind(self) -> str:
        """The kind of what raters grade: ``document`` or ``answer``."""
        return DocumentKind.ANSWER if self.dimension else DocumentKind.DOCUMENT

    @property
    def query_kind(self) -> str:
        """What raters read above it: a ``query`` or a ``question``."""
        return QueryKind.QUESTION if self.dimension else QueryKind.QUERY

    @property
    def shows_reference(self) -> bool:
        """Whether raters read the reference answer: faithful is what the evidence supports, whatever is right."""
        return self.dimension in (self.Dimension.CORRECT, self.Dimension.COMPLETE)


class RoundRater(models.Model):
    """A person who was asked to rate in a round, under a pseudonym drawn from the round's seed."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="raters")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations")
    pseudonym = OpaqueIdField(max_length=12)
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True)
    # A paused rater is handed nothing until a lead says so; what they gave stays, unless it is set aside.
    paused_at = models.DateTimeField(null=True)
    pause_reason = models.CharField(max_length=500, blank=True)
    # When they passed the round's calibration, and the share that was right then.
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
