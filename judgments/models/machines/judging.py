"""Runs of machine judges in a round: caps, call log with costs, state, and auto-acceptance."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import EventModel, PublicModel
from judgments.models.job import Job
from judgments.models.machines.machine import ANSWERED, OUTCOMES, Judge
from judgments.models.members.collection import Collection
from judgments.models.members.user import User
from judgments.models.pair import Pair
from judgments.models.round import Round


class MachineRun(PublicModel):
    """A run of machines in a round, with its caps and how it ended. The job has the progress."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        PAUSED = "paused", "paused"
        BUDGET = "budget", "cap reached"
        REFUSED = "refused", "refused by the provider"
        DOWN = "down", "provider does not respond"
        STOPPED = "stopped", "stopped"

    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    end_message = models.TextField(blank=True, db_column="said")  # why the run ended
    pause_requested = models.BooleanField(default=False, db_column="pause_asked")
    # The hard caps, and what all attempts together have used.
    cap_usd = models.FloatField(null=True)
    cap_calls = models.PositiveIntegerField(null=True)
    spent_usd = models.FloatField(default=0.0)
    calls = models.PositiveIntegerField(default=0)
    estimate = models.JSONField(default=dict)
    # The share of all pairs that people judge in any case. Drawn with the seed; larger shares contain smaller ones.
    audit_share = models.FloatField(default=0.1)
    # The number of pairs, or of comparisons per model, that are tried with injected text.
    canaries = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    # The time until which a provider that is down asked not to be called.
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
    """A run of one judge in one round."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="judge_runs")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    seed = models.BigIntegerField(default=1)  # of the audit slice and the injected texts

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
    """One call to a model with its answer or failure. An answer is found again by its key."""

    key = models.CharField(max_length=64)  # hash of the request, the model and the call options
    prompt_sha256 = models.CharField(max_length=64)
    requested_model = models.CharField(max_length=200, db_column="model_asked")
    model_answered = models.CharField(max_length=200, blank=True)
    parameters = models.JSONField(default=dict)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    # Whether the cost is an upper bound, since the provider did not count tokens.
    cost_estimated = models.BooleanField(default=False)
    # Parameters that were left out because the model does not accept them.
    left_out = models.JSONField(default=list)
    seconds = models.FloatField(default=0.0)
    outcome = models.CharField(max_length=20, choices=[(name, name) for name in OUTCOMES])
    usefulness = models.FloatField(null=True)
    raw = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.requested_model}: {self.outcome}"


class ModelCall(PublicModel, ProviderCall, EventModel):
    """A judge's call about a pair: a row of the call log."""

    class Purpose(models.TextChoices):
        PAIR = "pair", "a pair"
        REPAIR = "repair", "a pair, retried"
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
            # A failed call may be repeated; an answer is paid for once.
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
    """A lead's decision to accept a judge's lowest grade without a person while its bound holds on the audit slice."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="auto_accepts")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="auto_accepts")
    bound = models.FloatField()  # the minimum share of these grades that people confirm, at the interval's lower end
    model_answered = models.CharField(
        max_length=200, blank=True
    )  # the model that answered when auto-acceptance started
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
