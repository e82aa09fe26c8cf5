"""Checks of a rater's work, one module each."""

from __future__ import annotations

from assay.core.registry import Family
from assay.quality.check import Check, Finding, GradeComparisons, Record, Timed

__all__ = ["CHECKS", "Check", "Finding", "GradeComparisons", "Record", "Timed", "examine"]

CHECKS: Family[Check] = Family(
    "quality check",
    {
        "gold": "assay.quality.gold_accuracy:GOLD",
        "consistency": "assay.quality.consistency:CONSISTENCY",
        "same-grade": "assay.quality.single_grade:SAME_GRADE",
        "pattern": "assay.quality.repeating_pattern:PATTERN",
        "copied": "assay.quality.copied_grades:COPIED",
        "too-fast": "assay.quality.speed:TOO_FAST",
        "apart": "assay.quality.distance_from_others:APART",
        "leniency": "assay.quality.leniency:LENIENCY",
        "drift": "assay.quality.grade_drift:DRIFT",
    },
    group="assay.quality",
)


def examine(record: Record) -> dict[str, list[Finding]]:
    """Run every check for every rater: check name to one finding per rater, in the order of the record."""
    findings: dict[str, list[Finding]] = {}
    odd: set[int] = set()
    for turn in sorted({CHECKS[name].turn for name in CHECKS}):
        names = [name for name in CHECKS if CHECKS[name].turn == turn]
        sound = record.without(sorted(odd)) if odd else record
        for name in names:
            findings[name] = CHECKS[name].find(sound)
            if odd:
                whole = CHECKS[name].find(record)
                findings[name] = [(whole if code in odd else findings[name])[code] for code in range(record.size)]
        serious = [name for name in names if CHECKS[name].severity == "serious"]
        odd |= {code for code in range(record.size) if any(findings[name][code].alarm for name in serious)}
    return {name: findings[name] for name in CHECKS}
