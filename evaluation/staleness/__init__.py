"""Table of the signals of stale labels. One line for each signal.

Signals tell whether labels still fit what systems return, what documents say and what people search for.
`report.look` reads every signal from plain tables (`facts.Facts`); the server and ``assay freshness`` both call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgments.core.family import Family

if TYPE_CHECKING:
    from evaluation.staleness.signal import Signal

__all__ = ["SIGNALS"]

SIGNALS: Family[Signal] = Family(
    "freshness signal",
    {
        "unjudged": "evaluation.staleness.unjudged:UNJUDGED",
        "growth": "evaluation.staleness.growth:GROWTH",
        "changed": "evaluation.staleness.changed:CHANGED",
        "gone": "evaluation.staleness.gone:GONE",
        "schema": "evaluation.staleness.schema:SCHEMA",
        "embedding": "evaluation.staleness.embedding:EMBEDDING",
        "category": "evaluation.staleness.category:CATEGORY",
        "language": "evaluation.staleness.language:LANGUAGE",
        "age": "evaluation.staleness.age:AGE",
        "curve": "evaluation.staleness.curve:CURVE",
        "coverage": "evaluation.staleness.coverage:COVERAGE",
        "tiers": "evaluation.staleness.tiers:TIERS",
    },
    group="assay.freshness",
)
