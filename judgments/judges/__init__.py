"""Machine judges, and the contract they share.

A judge takes a batch of contexts and answers each with a typed outcome, as defined in `contract`. A new judge is
one new file and one new line; another package adds one by the entry point ``assay.judges``. Judges that call a
model are in a table of their own, since they also need an endpoint; `asking` runs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgments.core.family import Family
from judgments.judges.contract import OUTCOMES, Context, Judge, JudgeKind, Outcome

if TYPE_CHECKING:
    # A provider's protocol names the outcome of a judge, and a judge's question the provider's: neither comes first.
    from judgments.judges.model_judge import ModelJudgeKind

__all__ = ["JUDGES", "MODEL_JUDGES", "OUTCOMES", "Context", "Judge", "JudgeKind", "Outcome"]

JUDGES: Family[JudgeKind] = Family(
    "judge",
    {
        "token_overlap": "judgments.judges.token_overlap:TOKEN_OVERLAP",
        "semantic": "judgments.judges.semantic:SEMANTIC",
    },
    group="assay.judges",
)

MODEL_JUDGES: Family[ModelJudgeKind] = Family(
    "judge that asks a model",
    {
        "graded": "judgments.judges.model_judges:GRADED",
        "binary": "judgments.judges.model_judges:BINARY",
        "expected_answer": "judgments.judges.model_judges:EXPECTED_ANSWER",
        "downstream": "judgments.judges.downstream:DOWNSTREAM",
    },
    group="assay.model_judges",
)
