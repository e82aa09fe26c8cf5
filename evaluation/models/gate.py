"""Verdicts of gates, which pipelines record."""

from __future__ import annotations

from django.db import models

from judgments.models import Collection, Snapshot, User
from judgments.models.fields import PublicModel, unique


class GateVerdict(PublicModel):
    """The verdict of a gate on a candidate run, as a pipeline computed it on the labels of a snapshot."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="gate_verdicts")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="gate_verdicts")
    # The id that the pipeline chose, so that a verdict sent twice is recorded once.
    client_id = models.UUIDField()
    passed = models.BooleanField()
    # The change that was checked, such as a pull request, and its address.
    label = models.CharField(max_length=200, blank=True)
    link = models.CharField(max_length=500, blank=True)
    # The runs by name and hash; the collection may have their files.
    candidate = models.CharField(max_length=120)
    candidate_sha256 = models.CharField(max_length=64)
    baseline = models.CharField(max_length=120, blank=True)
    baseline_sha256 = models.CharField(max_length=64, blank=True)
    # The parts of ``assay gate --format json`` with these names.
    rules = models.JSONField()
    warnings = models.JSONField(default=list)
    settings = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [unique("gate_verdict_once", "collection", "client_id")]

    def __str__(self) -> str:
        return f"{self.candidate} on {self.snapshot}"
