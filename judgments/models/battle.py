"""Pairwise comparisons of documents in a round (zELO calls them battles): runs, answers and canaries."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.collection import Collection
from judgments.models.fields import EventModel, PublicModel
from judgments.models.judging import MachineRun
from judgments.models.machine import OUTCOMES
from judgments.models.pair import Pair
from judgments.models.prompt import PromptVersion
from judgments.models.round import Round


class BattleRun(MachineRun):
    """One draw of battles in a round and the models that fight them."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="battle_runs")
    number = models.PositiveIntegerField()  # in the round, from 1
    # [{"provider": <uuid>, "name": ..., "protocol": ..., "base_url": ..., "model": ...}]: who answers every battle.
    ensemble = models.JSONField()
    # What the models are told, word for word: another template or other guidelines are another run.
    told = models.JSONField()
    # The collection's own version that those words are; None for what comes with Assay, and for a file.
    prompt = models.ForeignKey(PromptVersion, null=True, on_delete=models.PROTECT, related_name="battle_runs")
    cycles = models.PositiveSmallIntegerField()
    both = models.FloatField()  # the share of the battles that is shown in both orders
    most = models.PositiveIntegerField(null=True)  # only so many documents of each query
    seed = models.BigIntegerField()
    # [[pair a, pair b, whether b is shown first]]: as drawn, and what was added since. What is asked hangs on nothing
    # that could have changed meanwhile.
    drawn = models.JSONField()
    battles = models.PositiveIntegerField()  # how many those are

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["round", "number"], name="battle_run_number_once"),
            models.CheckConstraint(condition=Q(both__gte=0, both__lte=1), name="battle_run_turns_a_share"),
            models.CheckConstraint(
                condition=Q(audit_share__gte=0, audit_share__lte=1), name="battle_run_audits_a_share"
            ),
            models.CheckConstraint(
                condition=Q(cap_usd__isnull=False) | Q(cap_calls__isnull=False), name="battle_run_is_capped"
            ),
        ]

    @property
    def collection(self) -> Collection:
        return self.round.collection

    def __str__(self) -> str:
        return f"battles {self.number}"


class AnsweredBattle(PublicModel, EventModel):
    """One answer of one model to two documents, or that it did not come."""

    a = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="+")
    b = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="+")
    swapped = models.BooleanField()  # whether b was shown first
    key = models.CharField(max_length=64)  # of all that was asked, of whom, and how
    prompt_sha256 = models.CharField(max_length=64)
    model_asked = models.CharField(max_length=200)
    model_answered = models.CharField(max_length=200, blank=True)
    outcome = models.CharField(max_length=20, choices=[(name, name) for name in OUTCOMES])
    score = models.FloatField(null=True)  # from -1 (a) to 1 (b), as if a had been shown first
    reason = models.TextField(blank=True)
    raw = models.TextField(blank=True)
    stop = models.CharField(max_length=10, default="done")
    # The answer to the same question about the same texts, asked before: it was not asked again and cost nothing.
    reused = models.BooleanField(default=False)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    # Whether that, or a part of it, is the most that it can have been: nobody counted.
    cost_estimated = models.BooleanField(default=False)
    # What of the question the model was not told, since it takes none.
    left_out = models.JSONField(default=list)
    seconds = models.FloatField(default=0.0)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.model_asked}: {self.outcome}"


# (That it is not null is said, since a check that comes to NULL passes.)
SCORE_FITS = Q(outcome="graded", score__isnull=False, score__gte=-1, score__lte=1) | Q(
    outcome__in=OUTCOMES[1:], score__isnull=True
)


class Battle(AnsweredBattle):
    """What counts for scores. A failed call has no score and is no vote."""

    run = models.ForeignKey(BattleRun, on_delete=models.PROTECT, related_name="fought")

    class Meta:
        ordering = ["pk"]
        constraints = [
            # Who got no answer may be asked again; an answer is paid for once.
            models.UniqueConstraint(
                fields=["run", "a", "b", "swapped", "key"],
                condition=~Q(outcome="transport_error"),
                name="battle_answered_once",
            ),
            models.CheckConstraint(condition=SCORE_FITS, name="battle_score_fits"),
            models.CheckConstraint(condition=~Q(a=models.F("b")), name="battle_has_two"),
        ]
        indexes = [
            models.Index(fields=["run", "a"], name="battle_of_a"),
            models.Index(fields=["run", "b"], name="battle_of_b"),
            models.Index(fields=["key"], name="battle_by_key"),
        ]


class BattleCanary(AnsweredBattle):
    """The same two documents with planted text in the one that had lost: in the ledger, and in no score."""

    run = models.ForeignKey(BattleRun, on_delete=models.PROTECT, related_name="canary_answers")
    trap = models.CharField(max_length=20)
    plain = models.FloatField()  # the score without the planted text: above 0 where a had lost

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "a", "b", "swapped", "key"],
                condition=~Q(outcome="transport_error"),
                name="battle_canary_answered_once",
            ),
            models.CheckConstraint(condition=SCORE_FITS, name="battle_canary_score_fits"),
            models.CheckConstraint(
                condition=Q(plain__gte=-1, plain__lte=1) & ~Q(plain=0), name="battle_canary_has_a_loser"
            ),
        ]
        indexes = [models.Index(fields=["key"], name="battle_canary_by_key")]
