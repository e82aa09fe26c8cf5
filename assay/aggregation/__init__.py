"""Label rules: one label from the grades of several raters.

From Python: ``from assay.aggregation import aggregate``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.core.registry import Family

if TYPE_CHECKING:
    from assay.aggregation.label_rule import Label as Label
    from assay.aggregation.label_rule import Labels as Labels
    from assay.aggregation.label_rule import Rule as Rule
    from assay.aggregation.labels import aggregate as aggregate

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
PUBLIC = {
    "aggregate": "assay.aggregation.labels",
    "Label": "assay.aggregation.label_rule",
    "Labels": "assay.aggregation.label_rule",
    "Rule": "assay.aggregation.label_rule",
}


def __getattr__(name: str) -> Any:
    # Imported on first use, because the command help lists the rules and should not import numpy.
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
