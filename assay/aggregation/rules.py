"""Registry of the label rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.registry import Family

if TYPE_CHECKING:
    from assay.aggregation.label_rule import Rule

RULES: Family[Rule] = Family(
    "label rule",
    {
        "median": "assay.aggregation.vote:MEDIAN",
        "majority": "assay.aggregation.vote:MAJORITY",
        "mean": "assay.aggregation.vote:MEAN",
        "min": "assay.aggregation.vote:MIN",
        "max": "assay.aggregation.vote:MAX",
        "dawid-skene": "assay.aggregation.dawid_skene:DAWID_SKENE",
    },
    group="assay.rules",
)
