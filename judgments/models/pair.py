"""Pairs of a round with their slots, raters' judgments, resolutions of conflicts, and examples for guidelines."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from judgments.models.audit import AuditRow
from judgments.models.document import Document
from judgments.models.fields import Authored, EventModel, EventQuerySet, PublicModel, check, unique
from judgments.models.members.collection import Collection
from judgments.models.members.user import User
from judgments.models.query import Query
from judgments.models.round import GuidelinesVersion, Round

# Up to this number of empty slots they are listed; beyond it, each pair is looked up.
FEW_SLOTS = 20_000


class PairQuerySet(models.QuerySet):
    def in_conflict(self, round_: Round, *, hidden: QuerySet[Pair] | None, steps: int = 1) -> PairQuerySet:
        """Filter a round's conflicts, the widest first: no grade is missing, and they differ by these steps or more."""
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
            unique("pair_once_per_round", "round", "query", "document"),
            unique("pair_position_once", "round", "position"),
            check("pair_wants_a_rating", ratings_wanted__gte=1),
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
            unique("slot_number_once", "pair", "number"),
            unique("slot_once_per_rater", "pair", "rater", condition=Q(rater__isnull=False)),
            unique("slot_filled_by_one", "filled_by", condition=Q(filled_by__isnull=False)),
            check("filled_slot_has_rater", Q(filled_by__isnull=True) | Q(rater__isnull=False)),
            check("leased_slot_has_rater", Q(rater__isnull=False) | Q(lease_until__isnull=True)),
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
        constraints = [unique("handout_once", "pair", "rater")]

    def __str__(self) -> str:
        return f"{self.pair_id} to {self.rater_id}"


class JudgmentQuerySet(EventQuerySet):
    def current(self) -> JudgmentQuerySet:
        """Filter the current answers: not superseded, undone or excluded."""
        return self.filter(superseded_by__isnull=True).exclude(state__in=Judgment.NO_ANSWER)

    def counted(self) -> JudgmentQuerySet:
        """Filter the grades that statistics and labels use: current, graded, within the pair's ratings."""
        return self.current().filter(state=Judgment.State.GRADED, surplus=False)

    def called_in(self) -> JudgmentQuerySet:
        """Filter extra ratings, which were requested because two grades differed."""
        return self.filter(_beyond_plan())

    def planned(self) -> JudgmentQuerySet:
        """Filter planned ratings, which agreement uses. Pairs chosen by disagreement would distort it."""
        return self.filter(~_beyond_plan())

    def with_origin(self) -> JudgmentQuerySet:
        """Annotate each row with ``called_in``: whether it is an extra rating."""
        return self.annotate(called_in=_beyond_plan())

    def of_round(self, round_: Any) -> JudgmentQuerySet:
        return self.filter(pair__round=round_)

    def standing(self) -> JudgmentQuerySet:
        """Filter the same rows as `current`, looked up one by one: for few rows of a large table."""
        later = Judgment.objects.filter(supersedes=OuterRef("pk")).order_by()
        return self.filter(~Exists(later)).exclude(state__in=Judgment.NO_ANSWER)


def _beyond_plan() -> Exists:
    """Match extra ratings by their slot, since any rater may fill a planned slot."""
    extra = Slot.objects.filter(filled_by=OuterRef("pk"), number__gt=OuterRef("pair__ratings_wanted"))
    return Exists(extra.order_by())


class RaterAnswer(PublicModel, EventModel):
    """A rater's answer, an event. A correction is a new row that supersedes the old one."""

    client_id = models.UUIDField()
    state: models.CharField
    grade = models.SmallIntegerField(null=True)
    reason = models.CharField(max_length=500, blank=True)
    note = models.TextField(blank=True)
    seconds_active = models.FloatField(null=True)
    seconds_away = models.FloatField(null=True)
    # How the answer was entered: key, click or touch; one document or a list; excerpt or full text; window width.
    how = models.JSONField(default=dict)
    supersedes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="superseded_by")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.state} {self.grade if self.grade is not None else ''}".strip()


class Judgment(RaterAnswer):
    """One rater's answer for one pair."""

    class State(models.TextChoices):
        GRADED = "graded", "graded"
        UNRATEABLE = "unrateable", "cannot judge"
        LATER = "later", "later"
        UNDONE = "undone", "undone"  # supersedes an answer without a new one
        REQUEUED = "requeued", "excluded"  # the same by a lead: the pair goes to another rater

    NO_ANSWER = (State.UNDONE, State.REQUEUED)

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="judgments")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="judgments")
    state = models.CharField(max_length=10, choices=State.choices)
    # True if the pair already had all its ratings: stored but not counted.
    surplus = models.BooleanField(default=False)
    document_sha256 = models.CharField(max_length=64)

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            unique("judgment_recorded_once", "rater", "client_id"),
            check(
                "judgment_grade_fits_state",
                Q(state="graded", grade__isnull=False)
                | Q(state__in=["unrateable", "later", "undone", "requeued"], grade__isnull=True),
            ),
            check("undo_takes_something_back", ~Q(state__in=["undone", "requeued"]) | Q(supersedes__isnull=False)),
            check("judgment_supersedes_another", ~Q(supersedes=F("id"))),
            # One chain of events per rater and pair: only its first event supersedes nothing.
            unique("judgment_one_chain_per_pair", "pair", "rater", condition=Q(supersedes__isnull=True)),
        ]


class AdjudicationQuerySet(EventQuerySet):
    def current(self) -> AdjudicationQuerySet:
        """Filter the current resolutions: not superseded or undone."""
        return self.filter(superseded_by__isnull=True, grade__isnull=False)


class Adjudication(PublicModel, EventModel):
    """A lead's resolution of one pair, with a reason. A later one supersedes it; one without a grade undoes it."""

    class Cause(models.TextChoices):
        """Why raters differed, which decides what a lead changes. The stored reason begins with these words."""

        GUIDELINES = "guidelines", "The guidelines do not cover it"
        SLIP = "slip", "A rater made a mistake"
        QUERY = "query", "The query is ambiguous"
        DOCUMENT = "document", "The document is faulty"

    # The words with which reasons of earlier versions begin.
    EARLIER_CAUSES = {
        "The guidelines leave it open": Cause.GUIDELINES,
        "A rater slipped": Cause.SLIP,
        "The query means several things": Cause.QUERY,
        "The document is odd": Cause.DOCUMENT,
    }

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="adjudications")
    grade = models.SmallIntegerField(null=True)  # None: supersedes a resolution without a new one
    reason = models.TextField()
    # The act that resolved or undid many pairs at once.
    act = models.ForeignKey(AuditRow, null=True, on_delete=models.PROTECT, related_name="resolutions")
    resolved_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_column="settled_by_id")
    supersedes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="superseded_by")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            check("adjudication_has_reason", ~Q(reason="")),
            check("adjudication_undoes_another", Q(grade__isnull=False) | Q(supersedes__isnull=False)),
            unique("adjudication_one_chain_per_pair", "pair", condition=Q(supersedes__isnull=True)),
        ]

    def __str__(self) -> str:
        return "undone" if self.grade is None else f"resolved as {self.grade}"

    @property
    def reason_parts(self) -> tuple[str, str]:
        """The cause and the lead's text, of which the stored reason consists."""
        for label, cause in {**{cause.label: cause for cause in self.Cause}, **self.EARLIER_CAUSES}.items():
            if self.reason == label:
                return cause.value, ""
            if self.reason.startswith(f"{label}. "):
                return cause.value, self.reason.removeprefix(f"{label}. ")
        return "", self.reason


class ExampleQuerySet(models.QuerySet):
    def pairs_read_in(self, guidelines: GuidelinesVersion) -> set[tuple[int, int]]:
        """Return the pairs, as keys of query and document, whose grade these guidelines or an earlier version show."""
        written = self.filter(
            collection=guidelines.collection_id, adjudication__isnull=False, version__number__lte=guidelines.number
        )
        return set(written.values_list("adjudication__pair__query", "adjudication__pair__document"))


class Example(PublicModel, Authored):
    """A pair with its grade and reason, waiting for the next guidelines version or part of one."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="examples")
    adjudication = models.OneToOneField(Adjudication, null=True, on_delete=models.PROTECT, related_name="example")
    query_text = models.CharField(max_length=2048)
    document_text = models.CharField(max_length=500)  # its title, or its id
    grade = models.SmallIntegerField()
    label = models.CharField(max_length=40, blank=True)
    reason = models.TextField()
    version = models.ForeignKey(GuidelinesVersion, null=True, on_delete=models.PROTECT, related_name="examples")

    objects = ExampleQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [check("example_has_reason", ~models.Q(reason=""))]

    @property
    def top(self) -> int:
        """The highest grade of the scale of its resolution; without a resolution its own grade or 3."""
        if self.adjudication is None:
            return max(3, self.grade)
        return max(self.adjudication.pair.round.scale.values())

    def __str__(self) -> str:
        return f"{self.query_text} x {self.document_text}"
