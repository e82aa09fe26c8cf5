"""Examples for guidelines: judged pairs with grade and reason."""

from __future__ import annotations

from django.db import models

from judgments.models.collection import Collection
from judgments.models.fields import PublicModel
from judgments.models.guidelines import GuidelinesVersion
from judgments.models.judgment import Adjudication
from judgments.models.user import User


class Example(PublicModel):
    """A pair with its grade and the reason, waiting for the next guidelines version, or written into one."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="examples")
    adjudication = models.OneToOneField(Adjudication, null=True, on_delete=models.PROTECT, related_name="example")
    query_text = models.CharField(max_length=2048)
    document_text = models.CharField(max_length=500)  # its title, or its id
    grade = models.SmallIntegerField()
    label = models.CharField(max_length=40, blank=True)
    reason = models.TextField()
    version = models.ForeignKey(GuidelinesVersion, null=True, on_delete=models.PROTECT, related_name="examples")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="example_has_reason")]

    @property
    def top(self) -> int:
        """The highest grade of the scale that it was settled on; of an example without a settlement its own or 3."""
        if self.adjudication is None:
            return max(3, self.grade)
        return max(self.adjudication.pair.round.scale.values())

    def __str__(self) -> str:
        return f"{self.query_text} x {self.document_text}"
