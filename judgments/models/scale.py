"""Scales and their grades, each with its label and cue."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property

from judgments.models.fields import Compiled, Given, PublicModel
from judgments.models.members.collection import Collection

# The four most common grades, with cues in the rater's own voice.
DEFAULT_GRADES = (
    (0, "Poor", "Would not help; I would search again."),
    (1, "Fair", "I see the connection, but it is not what I want."),
    (2, "Good", "I want this, though there may be a better one."),
    (3, "Perfect", "This is just what I am looking for."),
)


class Scale(PublicModel):
    """A set of named grades. A round has one; another scale needs a new round."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="scales")
    # The lowest grade that counts as relevant where a metric knows only yes and no.
    relevant_from = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        values = self.values()
        return f"{values[0]}-{values[-1]}" if values else "no grades"

    @cached_property
    def _values(self) -> list[int]:
        if "grades" in getattr(self, "_prefetched_objects_cache", {}):
            return [grade.value for grade in self.grades.all()]
        # Cached, since every answer of a rater is checked against them.
        return [value for (value,) in VALUES(scale=self.pk)]

    def values(self) -> list[int]:
        """Return the grades from the lowest to the highest. A scale never changes, so they are read once."""
        return self._values


class Grade(models.Model):
    """One value of a scale, with the label and cue of its button."""

    scale = models.ForeignKey(Scale, on_delete=models.CASCADE, related_name="grades")
    value = models.SmallIntegerField()
    label = models.CharField(max_length=40)
    cue = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["value"]
        constraints = [
            models.UniqueConstraint(fields=["scale", "value"], name="grade_once_per_scale"),
            models.CheckConstraint(condition=Q(value__gte=0, value__lte=100), name="grade_in_0_100"),
            models.CheckConstraint(condition=~Q(label=""), name="grade_has_label"),
        ]

    def __str__(self) -> str:
        return f"{self.value} {self.label}"


VALUES = Compiled(lambda: Grade.objects.filter(scale=Given("scale")).order_by("value").values_list("value"))
