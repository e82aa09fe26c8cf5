"""Machine judges, and the contract they share.

A judge takes a batch of contexts and answers each with a typed outcome, as defined in `assay.llm.judge`. A new judge
needs a new file and a new line in the table; other packages add judges through the entry point ``assay.judges``. Judges
that call a model are in a separate table, because they also need an endpoint; `bulk_judging` runs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.outcomes import OUTCOMES
from assay.core.registry import Family
from assay.llm.judge import Context, Judge, JudgeKind, Outcome

if TYPE_CHECKING:
    # Provider protocols refer to judge outcomes and judges refer to provider questions, so the imports are circular.
    from assay.llm.judges.model_judge import ModelJudgeKind

__all__ = ["JUDGES", "MODEL_JUDGES", "OUTCOMES", "Context", "Judge", "JudgeKind", "Outcome"]

JUDGES: Family[JudgeKind] = Family(
    "judge",
    {
        "token_overlap": "assay.llm.judges.token_overlap:TOKEN_OVERLAP",
        "semantic": "assay.llm.judges.semantic:SEMANTIC",
    },
    group="assay.judges",
)

MODEL_JUDGES: Family[ModelJudgeKind] = Family(
    "model judge",
    {
        "graded": "assay.llm.judges.relevance_judges:GRADED",
        "binary": "assay.llm.judges.relevance_judges:BINARY",
        "expected_answer": "assay.llm.judges.relevance_judges:EXPECTED_ANSWER",
        "downstream": "assay.llm.judges.usefulness:DOWNSTREAM",
    },
    group="assay.model_judges",
)
