"""Comparison of label rules: the labels under each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from judgments.labels.round_labels import Key, RatedRound, label
from judgments.snapshots import merging

# With more grades only the chosen rule is computed, because the others would take seconds.
MOST_GRADES = 300_000
# Rules that fit a model, which is slow for many grades.
SLOW = ("dawid-skene",)


@dataclass(frozen=True)
class RuleEffect:
    """The labels of the rounds under one rule, compared with those under the chosen rule."""

    rule: str
    by_grade: dict[int, int]
    raised: int
    lowered: int
    gone: int
    new: int

    @property
    def labels(self) -> int:
        return sum(self.by_grade.values())

    @property
    def differ(self) -> int:
        return self.raised + self.lowered + self.gone + self.new


def compare_rules(judged: Sequence[RatedRound], chosen: str) -> list[RuleEffect]:
    """Compare each rule's labels with the chosen rule's; for very large rounds return only the chosen rule."""
    from assay.aggregation.rules import RULES

    many = sum(len(rated.rows) for rated in judged) > MOST_GRADES
    tried = [chosen] if many else list(RULES)
    under = {name: merging.merge([label(rated, name) for rated in judged]).labels for name in tried}
    return [_beside(name, under[name], under[chosen]) for name in tried]


def _beside(rule: str, labels: dict[Key, int], chosen: dict[Key, int]) -> RuleEffect:
    both = labels.keys() & chosen.keys()
    return RuleEffect(
        rule=rule,
        by_grade=dict(sorted(Counter(labels.values()).items())),
        raised=sum(labels[key] > chosen[key] for key in both),
        lowered=sum(labels[key] < chosen[key] for key in both),
        gone=len(chosen.keys() - both),
        new=len(labels.keys() - both),
    )
