"""Label rules: one label from the grades of several raters. A new rule is one more line in ``rules.py``.

From Python: ``from judgments.aggregation import aggregate``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgments.aggregation.labels import aggregate as aggregate
    from judgments.aggregation.rule import Label as Label
    from judgments.aggregation.rule import Labels as Labels
    from judgments.aggregation.rule import Rule as Rule
    from judgments.aggregation.rules import RULES as RULES

PUBLIC = {
    "RULES": "judgments.aggregation.rules",
    "aggregate": "judgments.aggregation.labels",
    "Label": "judgments.aggregation.rule",
    "Labels": "judgments.aggregation.rule",
    "Rule": "judgments.aggregation.rule",
}


def __getattr__(name: str) -> Any:
    # Looked up on first use: the help of the command lists the rules and should not pay for numpy.
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
