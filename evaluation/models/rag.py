"""Models of RAG evaluation: sample sets, the systems that answered them, and their scorecards."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models import Collection, MachineRun, Provider, ProviderCall, Round, Snapshot, User
from judgments.models.fields import Archivable, OpaqueIdField, PublicModel


class RagSampleSet(PublicModel, Archivable):
    """A set of test cases: a JSONL file in storage, and an index row for each sample."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="rag_sample_sets")
    name = models.CharField(max_length=120)
    filename = models.CharField(max_length=255)
    path = models.CharField(max_length=255)
    # Hash of the file as uploaded, empty for a set made from the collection; and hash of the stored file.
    sha256 = models.CharField(max_length=64, blank=True, default="")
    stored_sha256 = models.CharField(max_length=64)
    rows = models.IntegerField()
    figures = models.JSONField(default=dict)
    # Label to value to the number of samples, for labels with few values.
    labels = models.JSONField(default=dict)
    # The source of a set; the snapshot decides who may see its relevant documents.
    origin = models.JSONField(default=dict)
    snapshot = models.ForeignKey(Snapshot, null=True, on_delete=models.PROTECT, related_name="+")
    report = models.JSONField(default=dict)
    settings = models.JSONField(default=dict)
    comparisons = models.JSONField(default=list)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="rag_sample_set_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="rag_sample_set_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class RagSample(PublicModel):
    """The position of one sample in the file of its set, and the fields that lists show."""

    sample_set = models.ForeignKey(RagSampleSet, on_delete=models.CASCADE, related_name="samples")
    sample_id = OpaqueIdField()
    position = models.IntegerField()
    query = models.TextField()
    labels = models.JSONField(default=dict)
    start = models.BigIntegerField()
    length = models.BigIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["sample_set", "sample_id"], name="rag_sample_once")]

    def __str__(self) -> str:
        return self.sample_id


class RagSystem(PublicModel, Archivable):
    """The outputs of one system for the samples of a set: a JSONL file in storage, and an index row for each output."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="rag_systems")
    sample_set = models.ForeignKey(RagSampleSet, on_delete=models.PROTECT, related_name="systems")
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=300, blank=True)
    # Whether the other systems are compared with this one; at most one per set.
    baseline = models.BooleanField(default=False)
    filename = models.CharField(max_length=255)
    path = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64, blank=True, default="")
    stored_sha256 = models.CharField(max_length=64)
    rows = models.IntegerField()
    # How samples without an output are treated.
    missing = models.CharField(max_length=10, choices=[(name, name) for name in ("error", "skip", "zero")])
    figures = models.JSONField(default=dict)
    report = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-baseline", "name"]
        constraints = [
            models.UniqueConstraint(fields=["sample_set", "name"], name="rag_system_name_once"),
            models.UniqueConstraint(fields=["sample_set"], condition=Q(baseline=True), name="rag_one_baseline"),
            models.CheckConstraint(condition=~Q(name=""), name="rag_system_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class RagOutput(models.Model):
    """The position of a system's output for one sample in its file, and the beginning of the answer."""

    system = models.ForeignKey(RagSystem, on_delete=models.CASCADE, related_name="outputs")
    sample = models.ForeignKey(RagSample, on_delete=models.CASCADE, related_name="outputs")
    excerpt = models.CharField(max_length=300, blank=True)
    start = models.BigIntegerField()
    length = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["system", "sample"], name="rag_output_once")]

    def __str__(self) -> str:
        return f"{self.system} on {self.sample}"


class RagScorecard(models.Model):
    """The stored result of `assay.rag.evaluate` for one system."""

    system = models.OneToOneField(RagSystem, on_delete=models.CASCADE, related_name="scorecard")
    about = models.JSONField(default=dict)
    metrics = models.JSONField(default=dict)
    slices = models.JSONField(default=dict)
    per_sample = models.JSONField(default=dict)
    settings = models.JSONField(default=dict)
    notes = models.JSONField(default=list)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"scorecard of {self.system}"

    def value(self, metric: str) -> float | None:
        """Return the value of a metric, or None if it was not measured."""
        entry: dict[str, Any] = self.metrics.get(metric, {})
        return entry["value"] if entry.get("details", {}).get("defined") else None


class RagGrading(models.Model):
    """A round in which people grade answers of a set's systems."""

    sample_set = models.ForeignKey(RagSampleSet, on_delete=models.CASCADE, related_name="gradings")
    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="rag_grading")
    answers = models.JSONField(default=dict)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.round} of {self.sample_set}"


class RagCriticRun(MachineRun):
    """A model that scores the answers of a set's systems, within caps. The scorecards use the newest run."""

    sample_set = models.ForeignKey(RagSampleSet, on_delete=models.CASCADE, related_name="critics")
    provider = models.ForeignKey(Provider, null=True, on_delete=models.SET_NULL, related_name="+")
    model = models.CharField(max_length=200)
    metrics = models.JSONField(default=list)
    parameters = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(cap_usd__isnull=False) | Q(cap_calls__isnull=False), name="rag_critic_run_is_capped"
            ),
        ]

    def __str__(self) -> str:
        return f"critic {self.model}"

    @property
    def collection(self) -> Collection:
        return self.sample_set.collection


class RagCriticCall(ProviderCall):
    """A stored question to a critic. A question with an answer is not sent again in the collection."""

    run = models.ForeignKey(RagCriticRun, on_delete=models.PROTECT, related_name="ledger")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "key"], condition=~Q(outcome="transport_error"), name="rag_critic_answered_once"
            ),
        ]
        indexes = [models.Index(fields=["key"], name="rag_critic_call_key")]
