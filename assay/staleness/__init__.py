"""Table of the signals of stale labels, with a line for each.

Signals tell whether labels still match what systems return, what documents contain and what people search for.
`report.look` reads every signal from plain tables (`signal.Facts`); the server and ``assay freshness`` both call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.registry import Family

if TYPE_CHECKING:
    from assay.staleness.signal import Signal

__all__ = ["SIGNALS"]

SIGNALS: Family[Signal] = Family(
    "freshness signal",
    {
        "unjudged": "assay.staleness.unjudged_documents:UNJUDGED",
        "growth": "assay.staleness.corpus_growth:GROWTH",
        "changed": "assay.staleness.changed_documents:CHANGED",
        "gone": "assay.staleness.removed_documents:GONE",
        "schema": "assay.staleness.recorded_changes:SCHEMA",
        "embedding": "assay.staleness.recorded_changes:EMBEDDING",
        "category": "assay.staleness.new_values:CATEGORY",
        "language": "assay.staleness.new_values:LANGUAGE",
        "age": "assay.staleness.label_age:AGE",
        "curve": "assay.staleness.traffic_curve:CURVE",
        "coverage": "assay.staleness.query_coverage:COVERAGE",
        "tiers": "assay.staleness.tier_changes:TIERS",
    },
    group="assay.freshness",
)
