"""Model of the click counts behind a click label."""

from __future__ import annotations

from django.db import models

from judgments.models import ImportedLabel


class ClickCount(models.Model):
    """The counts behind one click label: impressions, clicks, and the interval of the label."""

    label = models.OneToOneField(ImportedLabel, on_delete=models.CASCADE, primary_key=True, related_name="click_count")
    impressions = models.BigIntegerField()
    clicks = models.BigIntegerField()
    expected = models.FloatField()
    estimate = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()

    def __str__(self) -> str:
        return f"{self.clicks} of {self.impressions}"
