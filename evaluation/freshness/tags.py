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
    """A note where the labels of the scores are stale or ageing; nothing where they are fresh or nobody knows."""
    if not isinstance(snapshot, Snapshot):  # a page without one
        return {}
    reading = freshness.shown(snapshot)
    warnings = reading.warnings
    return {"reading": reading, "snapshot": snapshot, "warnings": warnings[:MOST], "more": len(warnings) - MOST}
