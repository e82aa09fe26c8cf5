"""Machine judges with their providers, prompts and runs, and their grades, which are separate from human grades."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models.fields import Authored, EventModel, Named, PublicModel, check, unique
from judgments.models.job import Job
from judgments.models.members.collection import Collection
from judgments.models.members.user import User
from judgments.models.pair import Pair
from judgments.models.round import Round


class PromptVersion(PublicModel, EventModel):
    """One version of a collection's own prompt template."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="prompts")
    name = models.CharField(max_length=80)
    number = models.PositiveIntegerField()
    system = models.TextField(blank=True)
    prompt = models.TextField()
    sha256 = models.CharField(max_length=64)
    note = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-number"]
        constraints = [
            unique("prompt_number_once", "collection", "name", "number"),
            check("prompt_says_something", Q(number__gte=1) & ~Q(prompt="")),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.number}"


class Provider(Named, PublicModel, Authored):
    """A model service. Its key is encrypted (``judgments.jobs.encrypted_secrets``) and never shown again."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="providers")
    name = models.CharField(max_length=120)
    protocol = models.CharField(max_length=40)
    base_url = models.CharField(max_length=500)
    # [{"name": ..., "price_in": ..., "price_out": ...}]: dollars per million tokens, None if unknown.
    models_offered = models.JSONField(default=list)
    prices_of = models.DateField(null=True)  # the day on which those prices were looked up
    sealed = models.TextField(blank=True)
    concurrency = models.PositiveSmallIntegerField(default=8)
    per_minute = models.PositiveIntegerField(null=True)
    tokens_per_minute = models.PositiveIntegerField(null=True)
    timeout = models.FloatField(default=60.0)

    class Meta:
        ordering = ["name"]
        constraints = [
            unique("provider_name_once", "collection", "name"),
            check("provider_has_a_name", ~Q(name="")),
        ]

    def offered(self, model: str) -> dict[str, Any] | None:
        """Return the listed settings of a model; None if the provider does not list it."""
        return next((one for one in self.models_offered if one["name"] == model), None)


OUTCOMES = ("graded", "unparseable", "out_of_scale", "refused", "truncated", "blocked", "transport_error")
# Several judges together may reach neither a grade nor a failure.
UNDECIDED = "undecided"
OUTCOME_NAMES = (*OUTCOMES, UNDECIDED)
# An answer is either a grade (relevance of a document) or a usefulness (what a system makes of it).
# (The explicit not-null conditions are needed, since a check that evaluates to NULL passes.)
ANSWERED = Q(outcome="graded", grade__isnull=False, usefulness__isnull=True) | Q(
    outcome="graded", grade__isnull=True, usefulness__isnull=False, usefulness__gte=0, usefulness__lte=1
)


class Judge(Named, PublicModel):
    """A machine that grades: its kind, model and inputs."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=40)
    model = models.CharField(max_length=200, blank=True)
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    parameters = models.JSONField(default=dict)
    # For judges that call a model: the provider, and the prompt version unless the prompt is built in.
    provider = models.ForeignKey(Provider, null=True, on_delete=models.SET_NULL, related_name="judges")
    prompt = models.ForeignKey(PromptVersion, null=True, on_delete=models.PROTECT, related_name="judges")
    # The exact inputs of the model, to resume a run; `parameters` has their hashes.
    inputs = models.JSONField(default=dict, db_column="told")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [unique("judge_name_once", "collection", "name")]


class MachineJudgment(PublicModel, EventModel):
    """A judge's outcome for one pair. A failure is an outcome, never a grade."""

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="judgments")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="machine_judgments")
    outcome = models.CharField(max_length=20, choices=[(name, name) for name in OUTCOME_NAMES])
    grade = models.SmallIntegerField(null=True)
    usefulness = models.FloatField(null=True)
    probabilities = models.JSONField(null=True)
    rationale = models.TextField(blank=True)
    raw = models.TextField(blank=True)
    # The call that it was read from; judges without a model have none.
    call = models.ForeignKey("ModelCall", null=True, on_delete=models.PROTECT, related_name="judgments")
    document_sha256 = models.CharField(max_length=64, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            unique("machine_judgment_once", "judge", "pair"),
            check(
                "machine_grade_fits_outcome",
                ANSWERED | Q(outcome__in=OUTCOME_NAMES[1:], grade__isnull=True, usefulness__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        answer = self.usefulness if self.grade is None else self.grade
        return self.outcome if answer is None else f"{self.outcome} {answer:g}"


class MachineRun(PublicModel, Authored):
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
            unique("judge_run_once", "round", "judge"),
            check("judge_run_audits_a_share", audit_share__gte=0, audit_share__lte=1),
            check("judge_run_is_capped", Q(cap_usd__isnull=False) | Q(cap_calls__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.judge} in {self.round}"

    @property
    def collection(self) -> Collection:
        return self.round.collection


class CallLog(models.Model):
    """One call to a model with its answer or failure. An answer is found again by its key."""

    key = models.CharField(max_length=64)  # hash of the request, the model and the call options
    prompt_sha256 = models.CharField(max_length=64)
    requested_model = models.CharField(max_length=200, db_column="model_asked")
    model_answered = models.CharField(max_length=200, blank=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    # Whether the cost is an upper bound, since the provider did not count tokens.
    cost_estimated = models.BooleanField(default=False)
    # Parameters that were left out because the model does not accept them.
    left_out = models.JSONField(default=list)
    seconds = models.FloatField(default=0.0)
    outcome = models.CharField(max_length=20, choices=[(name, name) for name in OUTCOMES])
    raw = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.requested_model}: {self.outcome}"


class ProviderCall(CallLog):
    """One call to a model for a grade or a usefulness."""

    parameters = models.JSONField(default=dict)
    usefulness = models.FloatField(null=True)

    class Meta:
        abstract = True


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
            unique("model_call_answered_once", "judge", "key", condition=~Q(outcome="transport_error")),
            check(
                "model_call_grade_fits",
                ANSWERED | Q(outcome__in=OUTCOMES[1:], grade__isnull=True, usefulness__isnull=True),
            ),
        ]
        indexes = [models.Index(fields=["run", "purpose", "pair"], name="model_call_of_pair")]


class AutoAccept(PublicModel, Authored):
    """A lead's decision to accept a judge's lowest grade without a person while its bound holds on the audit slice."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="auto_accepts")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="auto_accepts")
    bound = models.FloatField()  # the minimum share of these grades that people confirm, at the interval's lower end
    model_answered = models.CharField(
        max_length=200, blank=True
    )  # the model that answered when auto-acceptance started
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            unique("auto_accept_one_judge_a_round", "round", condition=Q(ended_at__isnull=True)),
            check("auto_accept_is_bounded", bound__gte=0.5, bound__lt=1),
        ]

    def __str__(self) -> str:
        return f"{self.judge}, {self.bound:g}"
