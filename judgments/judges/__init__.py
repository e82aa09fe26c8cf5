"""Which machine judges are there, and what do all of them keep to?

A judge takes a batch of contexts and answers each with a typed outcome: `contract` says which. A new judge is one new
file and one new line; another package adds one by the entry point ``assay.judges``.
"""

from __future__ import annotations

from judgments.core.family import Family
from judgments.judges.contract import OUTCOMES, Context, Judge, JudgeKind, Outcome

__all__ = ["JUDGES", "OUTCOMES", "Context", "Judge", "JudgeKind", "Outcome"]

JUDGES: Family[JudgeKind] = Family(
    "judge",
    {
        "token_overlap": "judgments.judges.token_overlap:TOKEN_OVERLAP",
    },
    group="assay.judges",
)
