"""Rounds and their raters, with the scale, the guidelines version, and the counters of raters' answers."""

from __future__ import annotations

import hashlib
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property

from judgments.models.document import DocumentKind
from judgments.models.fields import (
    Archivable,
    ArchivableQuerySet,
    Compiled,
    EventModel,
    Given,
    Named,
    OpaqueIdField,
    PublicModel,
    check,
    unique,
)
from judgments.models.members.collection import Collection
from judgments.models.members.user import User
from judgments.models.query import QueryKind

# The four most common grades, with cues in the rater's own voice.
DEFAULT_GRADES = (
    (0, "Poor", "Would not help; I would search again."),
    (1, "Fair", "I see the connection, but it is not what I want."),
    (2, "Good", "I want this, though there may be a better one."),
    (3, "Perfect", "This is just what I am looking for."),
)

# The strategy of a round that is judged until there is a verdict (`evaluation.decisions`).
DECISION = "decision"


class Scale(PublicModel):
    """A set of named grades. A round has one; another scale needs a new round."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="scales")
    # The lowest grade that counts as relevant where a metric knows only yes and no.
    relevant_from = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        values = self.values()
        return f"{values[0]}-{values[-1]}" if values else "no grades"

    @cached_property
    def _values(self) -> list[int]:
        if "grades" in getattr(self, "_prefetched_objects_cache", {}):
            return [grade.value for grade in self.grades.all()]
        # Cached, since every answer of a rater is checked against them.
        return [value for (value,) in VALUES(scale=self.pk)]

    def values(self) -> list[int]:
        """Return the grades from the lowest to the highest. A scale never changes, so they are read once."""
        return self._values


class Grade(models.Model):
    """One value of a scale, with the label and cue of its button."""

    scale = models.ForeignKey(Scale, on_delete=models.CASCADE, related_name="grades")
    value = models.SmallIntegerField()
    label = models.CharField(max_length=40)
    cue = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["value"]
        constraints = [
            unique("grade_once_per_scale", "scale", "value"),
            check("grade_in_0_100", value__gte=0, value__lte=100),
            check("grade_has_label", ~Q(label="")),
        ]

    def __str__(self) -> str:
        return f"{self.value} {self.label}"


VALUES = Compiled(lambda: Grade.objects.filter(scale=Given("scale")).order_by("value").values_list("value"))


class GuidelinesVersion(PublicModel, EventModel):
    """One version of a collection's guidelines: Markdown, numbered from 1. It never changes."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="guidelines")
    number = models.PositiveIntegerField()
    markdown = models.TextField()
    sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            unique("guidelines_number_once", "collection", "number"),
            check("guidelines_say_something", Q(number__gte=1) & ~Q(markdown="")),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"

    @staticmethod
    def hash_of(markdown: str) -> str:
        """Return the SHA-256 of the text."""
        return hashlib.sha256(markdown.encode()).hexdigest()


class RoundQuerySet(ArchivableQuerySet):
    def open_to(self, user: Any) -> RoundQuerySet:
        """Filter the open rounds that the user rates in."""
        return self.filter(state=Round.State.OPEN, raters__user_id=user.pk, raters__left_at__isnull=True)


class Round(Named, PublicModel, Archivable):
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
            unique("round_name_once", "collection", "name"),
            check("round_state_known", state__in=["draft", "open", "closed"]),
            check("round_dimension_known", dimension__in=["", "faithful", "correct", "complete"]),
            check("round_asks_for_a_rating", ratings_per_pair__gte=1),
            check("round_overlap_is_a_share", overlap__gte=0, overlap__lte=1),
            check("round_grows_to_an_end", Q(growing=False) | Q(most_pairs__isnull=False)),
            check("round_repeats_a_share", repeat_share__gte=0, repeat_share__lte=0.5),
            check("round_pass_mark_is_a_share", Q(pass_mark__isnull=True) | Q(pass_mark__gt=0, pass_mark__lte=1)),
            check("round_gate_can_be_met", gate_threshold__gte=-1, gate_threshold__lte=1),
        ]

    def planned_ratings(self, pairs: int) -> int:
        """Return the number of planned ratings for this many pairs: k for overlapping pairs, one for the others."""
        return pairs + round(pairs * self.overlap) * (self.ratings_per_pair - 1)

    @property
    def depends_on_answers(self) -> bool:
        """Whether the answers so far decide what is judged next: more pairs are chosen, or the round may end."""
        return self.growing or self.provenance.get("strategy") == DECISION

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
            unique("round_rater_once", "round", "user"),
            unique("pseudonym_once_per_round", "round", "pseudonym"),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class Tally(models.Model):
    """Counters of one rater's current answers in one round, updated with each answer."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="tallies")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    graded = models.PositiveIntegerField(default=0)
    unrateable = models.PositiveIntegerField(default=0)
    later = models.PositiveIntegerField(default=0)
    surplus = models.PositiveIntegerField(default=0)  # among the three above
    filled = models.PositiveIntegerField(default=0)  # slots that this rater filled
    events = models.PositiveIntegerField(default=0)  # all events, which identifies the state
    # Active seconds of graded answers, counted in duration classes, which is enough for a median.
    seconds = models.JSONField(default=dict)
    # Pairs open to each rater, without counting pairs: see `judgments.rating.pair_state`.
    places = models.JSONField(default=dict)
    reached = models.PositiveIntegerField(null=True)  # position of the last answered pair
    last_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [unique("tally_once_per_rater", "round", "rater")]

    def __str__(self) -> str:
        return f"{self.graded} graded by {self.rater_id}"


class RoundReport(models.Model):
    """The last computed agreement of a round, and the state of the round that it describes."""

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="report")
    events = models.PositiveIntegerField()  # the sum over the tallies when it was computed
    report = models.JSONField()
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"report of {self.round_id}"
