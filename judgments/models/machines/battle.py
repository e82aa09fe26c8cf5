"""Pairwise comparisons of documents in a round (zELO calls them battles): runs, answers and canaries."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import EventModel, PublicModel, check, unique
from judgments.models.machines.machine import OUTCOMES, CallLog, MachineRun, PromptVersion
from judgments.models.members.collection import Collection
from judgments.models.pair import Pair
from judgments.models.round import Round


class BattleRun(MachineRun):
    """One set of pairwise comparisons in a round and the models that answer them."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="battle_runs")
    number = models.PositiveIntegerField()  # in the round, from 1
    # The models that answer every comparison: provider (its UUID), name, protocol, base_url and model of each.
    ensemble = models.JSONField()
    # The exact prompt inputs: another template or other guidelines make another run.
    inputs = models.JSONField(db_column="told")
    # The collection's prompt version; None for the built-in prompt and for imported comparisons.
    prompt = models.ForeignKey(PromptVersion, null=True, on_delete=models.PROTECT, related_name="battle_runs")
    cycles = models.PositiveSmallIntegerField()
    both = models.FloatField()  # share of comparisons shown in both orders
    most = models.PositiveIntegerField(null=True)  # maximum number of documents per query
    seed = models.BigIntegerField()
    # [[pair a, pair b, whether b is shown first]], as drawn and extended, so that later changes of the round do not
    # change the comparisons.
    drawn = models.JSONField()
    battles = models.PositiveIntegerField()  # their number

    class Meta:
        ordering = ["-number"]
        constraints = [
            unique("battle_run_number_once", "round", "number"),
            check("battle_run_turns_a_share", both__gte=0, both__lte=1),
            check("battle_run_audits_a_share", audit_share__gte=0, audit_share__lte=1),
            check("battle_run_is_capped", Q(cap_usd__isnull=False) | Q(cap_calls__isnull=False)),
        ]

    @property
    def collection(self) -> Collection:
        return self.round.collection

    def __str__(self) -> str:
        return f"comparison run {self.number}"


class AnsweredBattle(PublicModel, CallLog, EventModel):
    """One model's answer to a pairwise comparison, or the failure of the call."""

    a = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="+")
    b = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="+")
    swapped = models.BooleanField()  # whether b was shown first
    score = models.FloatField(null=True)  # from -1 (a) to 1 (b), as if a had been shown first
    reason = models.TextField(blank=True)
    stop = models.CharField(max_length=10, default="done")
    # Whether an earlier answer to the same request was reused without a new call.
    reused = models.BooleanField(default=False)

    class Meta:
        abstract = True


# (The explicit not-null conditions are needed, since a check that evaluates to NULL passes.)
SCORE_FITS = Q(outcome="graded", score__isnull=False, score__gte=-1, score__lte=1) | Q(
    outcome__in=OUTCOMES[1:], score__isnull=True
)


class Battle(AnsweredBattle):
    """A comparison that counts for scores. A failed call has no score and does not count."""

    run = models.ForeignKey(BattleRun, on_delete=models.PROTECT, related_name="fought")

    class Meta:
        ordering = ["pk"]
        constraints = [
            # A failed call may be repeated; an answer is paid for once.
            unique("battle_answered_once", "run", "a", "b", "swapped", "key", condition=~Q(outcome="transport_error")),
            check("battle_score_fits", SCORE_FITS),
            check("battle_has_two", ~Q(a=models.F("b"))),
        ]
        indexes = [
            models.Index(fields=["run", "a"], name="battle_of_a"),
            models.Index(fields=["run", "b"], name="battle_of_b"),
            models.Index(fields=["key"], name="battle_by_key"),
        ]


class BattleCanary(AnsweredBattle):
    """A comparison with injected text in the document that had lost. It is logged and never scored."""

    run = models.ForeignKey(BattleRun, on_delete=models.PROTECT, related_name="canary_answers")
    trap = models.CharField(max_length=20)
    plain = models.FloatField()  # the score without the injected text: above 0 if a had lost

    class Meta:
        ordering = ["pk"]
        constraints = [
            unique(
                "battle_canary_answered_once",
                "run",
                "a",
                "b",
                "swapped",
                "key",
                condition=~Q(outcome="transport_error"),
            ),
            check("battle_canary_score_fits", SCORE_FITS),
            check("battle_canary_has_a_loser", Q(plain__gte=-1, plain__lte=1) & ~Q(plain=0)),
        ]
        indexes = [models.Index(fields=["key"], name="battle_canary_by_key")]
