"""Gold pairs, the probes shown to raters, and the raters' answers.

An answer to a probe is not a rating: it measures the rater, not the pair. It has its own tables, so that it can never
count toward the k of a pair, its label, or the agreement of a round.
"""

from __future__ import annotations

from typing import cast

from django.db import models
from django.db.models import F, Q

from judgments.models.document import Document
from judgments.models.fields import Authored, EventQuerySet, PublicModel, check, unique
from judgments.models.members.user import User
from judgments.models.pair import Pair, RaterAnswer
from judgments.models.query import Query
from judgments.models.round import Round


class GoldPair(PublicModel, Authored):
    """A pair with an expert grade. It qualifies raters before a round or checks them during it."""

    class Use(models.TextChoices):
        CALIBRATION = "calibration", "qualification, with feedback"
        HIDDEN = "hidden", "hidden during the round"

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="gold")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    use = models.CharField(max_length=11, choices=Use.choices)
    position = models.PositiveIntegerField()
    grade = models.SmallIntegerField()
    explanation = models.TextField(blank=True)  # the reason for the grade, shown to raters after they answer

    class Meta:
        ordering = ["use", "position"]
        constraints = [
            unique("gold_pair_once_per_round", "round", "query", "document"),
            unique("gold_position_once", "round", "use", "position"),
            check("gold_use_known", use__in=["calibration", "hidden"]),
        ]

    def __str__(self) -> str:
        return f"{self.query} x {self.document}"


class Probe(PublicModel):
    """A gold pair or repeat that was shown to a rater."""

    class Kind(models.TextChoices):
        CALIBRATION = "calibration", "calibration"
        GOLD = "gold", "hidden gold pair"
        REPEAT = "repeat", "repeat"

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="probes")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="probes")
    kind = models.CharField(max_length=11, choices=Kind.choices)
    gold = models.ForeignKey(GoldPair, null=True, on_delete=models.PROTECT, related_name="probes")
    pair = models.ForeignKey(Pair, null=True, on_delete=models.PROTECT, related_name="probes")
    expected = models.SmallIntegerField()  # the expert grade, or the rater's own first grade
    attempt = models.PositiveSmallIntegerField(default=1)  # a rater may try to qualify several times
    answered = models.BooleanField(default=False)
    handed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            unique("gold_once_per_attempt", "rater", "gold", "attempt", condition=Q(gold__isnull=False)),
            unique("repeat_once", "rater", "pair", condition=Q(pair__isnull=False)),
            check("probe_kind_known", kind__in=["calibration", "gold", "repeat"]),
            check(
                "probe_asks_what_is_known",
                Q(kind="repeat", pair__isnull=False, gold__isnull=True)
                | Q(kind__in=["calibration", "gold"], pair__isnull=True, gold__isnull=False),
            ),
        ]
        indexes = [models.Index(fields=["round", "rater", "kind"], name="probe_of_rater")]

    def __str__(self) -> str:
        return f"{self.kind} for {self.rater_id}"

    @property
    def source(self) -> GoldPair | Pair:
        """The gold pair, or the rater's own pair."""
        # A database constraint ensures that one of them is set.
        return cast("GoldPair | Pair", self.gold or self.pair)

    @property
    def query(self) -> Query:
        return self.source.query

    @property
    def query_id(self) -> int:
        return self.source.query_id

    @property
    def document(self) -> Document:
        return self.source.document


class ProbeAnswerQuerySet(EventQuerySet):
    def current(self) -> ProbeAnswerQuerySet:
        """Filter the current answers: not superseded and not undone."""
        return self.filter(superseded_by__isnull=True).exclude(state=ProbeAnswer.State.UNDONE)


class ProbeAnswer(RaterAnswer):
    """A rater's answer to a probe."""

    class State(models.TextChoices):
        GRADED = "graded", "graded"
        UNRATEABLE = "unrateable", "cannot judge"
        LATER = "later", "later"
        UNDONE = "undone", "undone"

    probe = models.ForeignKey(Probe, on_delete=models.PROTECT, related_name="answers")
    rater = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices)

    objects = ProbeAnswerQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            unique("probe_answer_recorded_once", "rater", "client_id"),
            check(
                "probe_answer_grade_fits_state",
                Q(state="graded", grade__isnull=False)
                | Q(state__in=["unrateable", "later", "undone"], grade__isnull=True),
            ),
            check("probe_answer_supersedes_another", ~Q(supersedes=F("id"))),
            unique("probe_answer_one_chain", "probe", condition=Q(supersedes__isnull=True)),
        ]

    # The API returns the same fields for a probe answer as for a judgment.
    surplus = False

    @property
    def pair(self) -> Probe:
        return self.probe
