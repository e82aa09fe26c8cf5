"""Template tag that adds a note to pages of scores if the snapshot is stale."""

from __future__ import annotations

from typing import Any

from django import template

from evaluation.freshness import freshness
from judgments.models import Snapshot

register = template.Library()
MOST = 3


@register.inclusion_tag("evaluation/freshness/_stale.html")
def staleness(snapshot: Any) -> dict[str, Any]:
    """Return a note if the labels of the scores are stale or aging; empty if they are fresh or unknown."""
    if not isinstance(snapshot, Snapshot):  # a page without a snapshot
        return {}
    reading = freshness.shown(snapshot)
    warnings = reading.warnings
    return {"reading": reading, "snapshot": snapshot, "warnings": warnings[:MOST], "more": len(warnings) - MOST}
