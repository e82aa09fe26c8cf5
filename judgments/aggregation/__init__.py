"""Which label do many judgments of one pair make? One file per kind of rule; a new one is one more line.

From Python: ``from judgments.aggregation import aggregate``.
"""

from __future__ import annotations

from judgments.aggregation.aggregate import aggregate
from judgments.aggregation.rule import Label, Labels, Rule
from judgments.aggregation.rules import RULES

__all__ = ["RULES", "Label", "Labels", "Rule", "aggregate"]
