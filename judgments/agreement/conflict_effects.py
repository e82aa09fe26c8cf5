"""Effect of each conflict of a round on the metrics, as computed by another app.

Effects on metrics need runs and scores, which this app does not have. An app that can compute them registers here in
its `AppConfig`. Without such an app or without runs, pages have no such column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgments.hooks import CONFLICT_APPRAISERS
from judgments.models import Round


@dataclass(frozen=True)
class Effects:
    """The largest change of a metric from resolving each conflict."""

    metric: str
    moves: Mapping[int, float]
    newer: int = 0


def effects(round_: Round) -> Effects | None:
    """Return the effects of the round's conflicts from the first app that has them, or None."""
    return next(
        (changes for name in CONFLICT_APPRAISERS if (changes := CONFLICT_APPRAISERS[name].effects(round_)) is not None),
        None,
    )


def why_not(round_: Round) -> str:
    """Return the reason why the effects of the round's conflicts are missing, or ""."""
    reasons = (CONFLICT_APPRAISERS[name].why_not for name in CONFLICT_APPRAISERS)
    return next((words for one in reasons if one is not None and (words := one(round_))), "")


def detail(pair: Any, grades: list[int]) -> list[dict[str, Any]]:
    """Return the effect of resolving one conflict on each run; empty if unknown."""
    for name in CONFLICT_APPRAISERS:
        appraise = CONFLICT_APPRAISERS[name].detail
        if appraise is not None and (rows := appraise(pair, grades)):
            return rows
    return []
