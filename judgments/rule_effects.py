"""Comparison of label rules: how the labels would change under each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from judgments import merging
from judgments.round_labels import Key, RatedRound, label

# Beyond so many grades a page would wait for seconds: nothing is tried but the chosen rule.
MOST_GRADES = 300_000
# Rules that fit a model, which takes long where grades are many.
SLOW = ("dawid-skene",)


@dataclass(frozen=True)
class RuleEffect:
    """The labels of the rounds under one rule, beside those under the rule that was chosen.

    Parameters
    ----------
    rule : str
        Its name.
    by_grade : dict of int to int
        How many labels of each grade; what is carried or imported is not among them.
    raised, lowered, gone, new : int
        Pairs with a higher or a lower label than under the chosen rule, without one, and with one only here.
    """

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
    """Every rule's labels against the chosen one's; of very large rounds the chosen one alone."""
    from judgments.aggregation.rules import RULES

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
