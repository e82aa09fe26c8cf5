"""Runs of machine judges in a round: caps, call log with costs, state, and auto-acceptance."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.collection import Collection
from judgments.models.fields import EventModel, PublicModel
from judgments.models.job import Job
from judgments.models.machine import ANSWERED, OUTCOMES, Judge
from judgments.models.pair import Pair
from judgments.models.round import Round
from judgments.models.user import User


class MachineRun(PublicModel):
    """Machines at work in a round, with their caps. The job says how far they are; how they ended stands here."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "at work"
        DONE = "done", "done"
        PAUSED = "paused", "paused"
        BUDGET = "budget", "cap reached"
        REFUSED = "refused", "refused by the provider"
        DOWN = "down", "provider does not answer"
        STOPPED = "stopped", "stopped"

    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    said = models.TextField(blank=True)  # how it ended, in words
    pause_asked = models.BooleanField(default=False)
    # The hard caps, and what was used of them, by all its attempts.
    cap_usd = models.FloatField(null=True)
    cap_calls = models.PositiveIntegerField(null=True)
    spent_usd = models.FloatField(default=0.0)
    calls = models.PositiveIntegerField(default=0)
    estimate = models.JSONField(default=dict)
    # People judge a share of all pairs whatever a machine says: drawn with the seed, wider shares hold narrower ones.
    audit_share = models.FloatField(default=0.1)
    # On how many pairs, or battles of each model, planted text is tried.
    canaries = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    # Until when a provider that is down asked to be left alone.
    not_before = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def over(self) -> bool:
        return self.state not in (self.State.WAITING, self.State.RUNNING)

    @property
    def collection(self) -> Collection:
        raise NotImplementedError


class JudgeRun(MachineRun):
    """One judge at work in one round."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="judge_runs")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    seed = models.BigIntegerField(default=1)  # of the audit slice, and of what is planted

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["round", "judge"], name="judge_run_once"),
            models.CheckConstraint(
                condition=Q(audit_share__gte=0, audit_share__lte=1), name="judge_run_audits_a_share"
            ),
            models.CheckConstraint(
                condition=Q(cap_usd__isnull=False) | Q(cap_calls__isnull=False), name="judge_run_is_capped"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} in {self.round}"

    @property
    def collection(self) -> Collection:
        return self.round.collection


class ProviderCall(models.Model):
    """One answer that a model gave, or that did not come. An answer is found again by its key."""

    key = models.CharField(max_length=64)  # of all that was asked, of whom, and how
    prompt_sha256 = models.CharField(max_length=64)
    model_asked = models.CharField(max_length=200)
    model_answered = models.CharField(max_length=200, blank=True)
    parameters = models.JSONField(default=dict)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    # Whether that, or a part of it, is the most that it can have been: nobody counted.
    cost_estimated = models.BooleanField(default=False)
    # What of the question the model was not told, since it takes none.
    left_out = models.JSONField(default=list)
    seconds = models.FloatField(default=0.0)
    outcome = models.CharField(max_length=20, choices=[(name, name) for name in OUTCOMES])
    usefulness = models.FloatField(null=True)
    raw = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.model_asked}: {self.outcome}"


class ModelCall(PublicModel, ProviderCall, EventModel):
    """A call about a pair: the ledger of judges."""

    class Purpose(models.TextChoices):
        PAIR = "pair", "a pair"
        REPAIR = "repair", "a pair, once more"
        CANARY = "canary", "a canary"

    run = models.ForeignKey(JudgeRun, on_delete=models.PROTECT, related_name="ledger")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="calls")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="+")
    purpose = models.CharField(max_length=8, choices=Purpose.choices)
    trap = models.CharField(max_length=20, blank=True)
    grade = models.SmallIntegerField(null=True)
    probabilities = models.JSONField(null=True)
    rationale = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            # Who got no answer may be asked again; an answer is paid for once.
            models.UniqueConstraint(
                fields=["judge", "key"], condition=~Q(outcome="transport_error"), name="model_call_answered_once"
            ),
            models.CheckConstraint(
                condition=ANSWERED | Q(outcome__in=OUTCOMES[1:], grade__isnull=True, usefulness__isnull=True),
                name="model_call_grade_fits",
            ),
        ]
        indexes = [models.Index(fields=["run", "purpose", "pair"], name="model_call_of_pair")]


class AutoAccept(PublicModel):
    """That a lead lets a judge's lowest grade stand without a person, as long as its bound holds on the audit slice."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="auto_accepts")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="auto_accepts")
    bound = models.FloatField()  # the share of these grades that people confirm, at the interval's lower end
    model_answered = models.CharField(max_length=200, blank=True)  # who answered when it was asked for
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["round"], condition=Q(ended_at__isnull=True), name="auto_accept_one_judge_a_round"
            ),
            models.CheckConstraint(condition=Q(bound__gte=0.5, bound__lt=1), name="auto_accept_is_bounded"),
        ]

    def __str__(self) -> str:
        return f"{self.judge}, {self.bound:g}"
