"""Effect of each conflict of a round on the metrics, as computed by another app.

Effects on metrics need runs and scores, which this app does not know. An app that can compute them registers here in
its `AppConfig`; without one, or without runs, pages have no such column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgments.hooks import CONFLICT_APPRAISERS
from judgments.models import Round


@dataclass(frozen=True)
class Effects:
    """How far resolving each conflict could move a metric.

    Attributes
    ----------
    metric : str
        The name of the metric, such as ``nDCG@10``.
    moves : mapping of int to float
        Pair key to the largest change of any run's mean when the pair's label goes from its lowest to its highest
        grade; 0 if it changes nothing. Pairs that were not examined are missing.
    newer : int
        The number of answers and changes since this was computed.
    """

    metric: str
    moves: Mapping[int, float]
    newer: int = 0


def effects(round_: Round) -> Effects | None:
    """Return the effects of the round's conflicts from the first appraiser that knows them, or None."""
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
