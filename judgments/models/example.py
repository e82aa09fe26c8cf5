"""Examples for guidelines: judged pairs with grade and reason."""

from __future__ import annotations

from django.db import models

from judgments.models.fields import PublicModel
from judgments.models.guidelines import GuidelinesVersion
from judgments.models.judgment import Adjudication
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class ExampleQuerySet(models.QuerySet):
    def pairs_read_in(self, guidelines: GuidelinesVersion) -> set[tuple[int, int]]:
        """Return the pairs, as keys of query and document, whose grade these guidelines or an earlier version show."""
        written = self.filter(
            collection=guidelines.collection_id, adjudication__isnull=False, version__number__lte=guidelines.number
        )
        return set(written.values_list("adjudication__pair__query", "adjudication__pair__document"))


class Example(PublicModel):
    """A pair with its grade and reason, waiting for the next guidelines version or part of one."""

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

    objects = ExampleQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="example_has_reason")]

    @property
    def top(self) -> int:
        """The highest grade of the scale of its resolution; without a resolution its own grade or 3."""
        if self.adjudication is None:
            return max(3, self.grade)
        return max(self.adjudication.pair.round.scale.values())

    def __str__(self) -> str:
        return f"{self.query_text} x {self.document_text}"
