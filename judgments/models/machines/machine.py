"""Machine judges and their grades, in separate tables so that no machine grade is mistaken for a human grade."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import EventModel, PublicModel
from judgments.models.machines.prompt import PromptVersion
from judgments.models.machines.provider import Provider
from judgments.models.members.collection import Collection
from judgments.models.pair import Pair

OUTCOMES = ("graded", "unparseable", "out_of_scale", "refused", "truncated", "blocked", "transport_error")
# Several judges together may reach neither a grade nor a failure.
UNDECIDED = "undecided"
OUTCOME_NAMES = (*OUTCOMES, UNDECIDED)
# An answer is either a grade (relevance of a document) or a usefulness (what a system makes of it).
# (The explicit not-null conditions are needed, since a check that evaluates to NULL passes.)
ANSWERED = Q(outcome="graded", grade__isnull=False, usefulness__isnull=True) | Q(
    outcome="graded", grade__isnull=True, usefulness__isnull=False, usefulness__gte=0, usefulness__lte=1
)


class Judge(PublicModel):
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
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="judge_name_once")]

    def __str__(self) -> str:
        return self.name


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
            models.UniqueConstraint(fields=["judge", "pair"], name="machine_judgment_once"),
            models.CheckConstraint(
                condition=ANSWERED | Q(outcome__in=OUTCOME_NAMES[1:], grade__isnull=True, usefulness__isnull=True),
                name="machine_grade_fits_outcome",
            ),
        ]

    def __str__(self) -> str:
        answer = self.usefulness if self.grade is None else self.grade
        return self.outcome if answer is None else f"{self.outcome} {answer:g}"
