"""Which checks are made of a rater's work? One file each; a new one is one new file and one new line."""

from __future__ import annotations

from judgments.core.family import Family
from judgments.quality.finding import Check, Finding
from judgments.quality.record import Asked, Record, Timed

__all__ = ["CHECKS", "Asked", "Check", "Finding", "Record", "Timed"]

CHECKS: Family[Check] = Family(
    "quality check",
    {
        "gold": "judgments.quality.gold:GOLD",
        "consistency": "judgments.quality.consistency:CONSISTENCY",
        "same-grade": "judgments.quality.same_grade:SAME_GRADE",
        "pattern": "judgments.quality.pattern:PATTERN",
        "copied": "judgments.quality.copied:COPIED",
        "too-fast": "judgments.quality.too_fast:TOO_FAST",
        "apart": "judgments.quality.apart:APART",
        "leniency": "judgments.quality.leniency:LENIENCY",
        "drift": "judgments.quality.drift:DRIFT",
    },
    group="assay.quality",
)
