"""Registry of the label rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgments.core.family import Family

if TYPE_CHECKING:
    from judgments.aggregation.rule import Rule

RULES: Family[Rule] = Family(
    "label rule",
    {
        "median": "judgments.aggregation.vote:MEDIAN",
        "majority": "judgments.aggregation.vote:MAJORITY",
        "mean": "judgments.aggregation.vote:MEAN",
        "min": "judgments.aggregation.vote:MIN",
        "max": "judgments.aggregation.vote:MAX",
        "dawid-skene": "judgments.aggregation.dawid_skene:DAWID_SKENE",
    },
    group="assay.rules",
)
