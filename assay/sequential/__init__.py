"""Sequential decisions: whether judging may stop because one system is better, worse or equivalent.

Each method gives an interval for the mean difference after every judged query; the intervals hold for all queries at
once, so that looking after each query keeps the error rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.registry import Family

if TYPE_CHECKING:
    from assay.sequential.method import Method

__all__ = ["ALPHA", "DELTA", "METHODS"]

# The largest difference that does not matter, and the probability of a wrong verdict, unless given.
DELTA, ALPHA = 0.02, 0.05

METHODS: Family[Method] = Family(
    "sequential method",
    {
        "asymptotic": "assay.sequential.asymptotic:ASYMPTOTIC",
        "group": "assay.sequential.group:GROUP",
        "betting": "assay.sequential.betting:BETTING",
    },
    group="assay.sequential_methods",
)
