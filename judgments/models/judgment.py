"""Judgments in the order in which raters gave them, and the resolutions of conflicts."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from judgments.models.fields import EventModel, EventQuerySet, PublicModel
from judgments.models.members.user import User
from judgments.models.pair import Pair, Slot


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


class Judgment(PublicModel, EventModel):
    """One rater's answer for one pair, an event. A correction is a new row that supersedes the old one."""

    class State(models.TextChoices):
        GRADED = "graded", "graded"
        UNRATEABLE = "unrateable", "cannot judge"
        LATER = "later", "later"
        UNDONE = "undone", "undone"  # supersedes an answer without a new one
        REQUEUED = "requeued", "excluded"  # the same by a lead: the pair goes to another rater

    NO_ANSWER = (State.UNDONE, State.REQUEUED)

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="judgments")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="judgments")
    client_id = models.UUIDField()
    state = models.CharField(max_length=10, choices=State.choices)
    grade = models.SmallIntegerField(null=True)
    reason = models.CharField(max_length=500, blank=True)
    note = models.TextField(blank=True)
    seconds_active = models.FloatField(null=True)
    seconds_away = models.FloatField(null=True)
    # How the answer was entered: key, click or touch; one document or a list; excerpt or full text; window width.
    how = models.JSONField(default=dict)
    # True if the pair already had all its ratings: stored but not counted.
    surplus = models.BooleanField(default=False)
    document_sha256 = models.CharField(max_length=64)
    supersedes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="superseded_by")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["rater", "client_id"], name="judgment_recorded_once"),
            models.CheckConstraint(
                condition=Q(state="graded", grade__isnull=False)
                | Q(state__in=["unrateable", "later", "undone", "requeued"], grade__isnull=True),
                name="judgment_grade_fits_state",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["undone", "requeued"]) | Q(supersedes__isnull=False),
                name="undo_takes_something_back",
            ),
            models.CheckConstraint(condition=~Q(supersedes=F("id")), name="judgment_supersedes_another"),
            # One chain of events per rater and pair: only its first event supersedes nothing.
            models.UniqueConstraint(
                fields=["pair", "rater"], condition=Q(supersedes__isnull=True), name="judgment_one_chain_per_pair"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.grade if self.grade is not None else ''}".strip()


class Adjudication(PublicModel, EventModel):
    """A lead's resolution of one pair, with a reason. A later one supersedes it."""

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
    grade = models.SmallIntegerField()
    reason = models.TextField()
    resolved_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_column="settled_by_id")
    supersedes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="superseded_by")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="adjudication_has_reason"),
            models.UniqueConstraint(
                fields=["pair"], condition=Q(supersedes__isnull=True), name="adjudication_one_chain_per_pair"
            ),
        ]

    def __str__(self) -> str:
        return f"resolved as {self.grade}"

    @property
    def reason_parts(self) -> tuple[str, str]:
        """The cause and the lead's text, of which the stored reason consists."""
        for label, cause in {**{cause.label: cause for cause in self.Cause}, **self.EARLIER_CAUSES}.items():
            if self.reason == label:
                return cause.value, ""
            if self.reason.startswith(f"{label}. "):
                return cause.value, self.reason.removeprefix(f"{label}. ")
        return "", self.reason
