"""Checks of a rater's work, one file each; a new one is one new file and one new line."""

from __future__ import annotations

from judgments.core.family import Family
from judgments.quality.finding import Check, Finding
from judgments.quality.record import Asked, Record, Timed

__all__ = ["CHECKS", "Asked", "Check", "Finding", "Record", "Timed", "examine"]

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


def examine(record: Record) -> dict[str, list[Finding]]:
    """Every check of every rater: check to a finding for each rater, in the record's order.

    Most checks compare a rater with the others. For whom a serious check of an earlier turn rings is left out of these
    others, or those who were paired with them would look odd; they themselves are compared with everybody.
    """
    found: dict[str, list[Finding]] = {}
    odd: set[int] = set()
    for turn in sorted({CHECKS[name].turn for name in CHECKS}):
        asked = [name for name in CHECKS if CHECKS[name].turn == turn]
        sound = record.without(sorted(odd)) if odd else record
        for name in asked:
            found[name] = CHECKS[name].find(sound)
            if odd:
                whole = CHECKS[name].find(record)
                found[name] = [(whole if code in odd else found[name])[code] for code in range(record.size)]
        serious = [name for name in asked if CHECKS[name].severity == "serious"]
        odd |= {code for code in range(record.size) if any(found[name][code].alarm for name in serious)}
    return {name: found[name] for name in CHECKS}
