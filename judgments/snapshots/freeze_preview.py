"""Preview of a snapshot: the labels that would be frozen, with warnings for the lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.aggregation import RULES
from judgments.agreement import gate
from judgments.agreement.gate import GateResult
from judgments.labels.round_labels import Key, RatedRound, label
from judgments.models import Collection, Round
from judgments.snapshots import baselines, bundle, final_labels, merging
from judgments.snapshots.final_labels import Consolidation, LabelSet

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


@dataclass(frozen=True)
class FreezePreview:
    """The labels that would be frozen, and warnings for the lead."""

    how: Consolidation
    judged: list[RatedRound]
    settled: LabelSet
    held: list[GateResult]
    stale: int

    @property
    def failed(self) -> list[GateResult]:
        """The rounds that fail their gate and need a reason."""
        return [one for one in self.held if one.failed]

    @property
    def refused(self) -> bool:
        """Whether rounds with older guidelines need a bridge and have none."""
        return self.how.merge == merging.BRIDGED and bool(self.settled.merged.unbridged)

    @property
    def doubts(self) -> list[str]:
        """Warnings to check before freezing, as sentences."""
        doubts = bundle.doubts(self.settled, self.how, self.stale)
        return [*doubts, *(one.warning for one in self.held if one.warning)]

    @cached_property
    def rules(self) -> list[RuleEffect]:
        """The labels of the rounds under each rule."""
        return compare_rules(self.judged, self.how.rule) if self.judged else []

    @property
    def rated(self) -> int:
        """The number of pairs with a grade or a resolution."""
        return len(set().union(*(one.rated | one.resolved.keys() for one in self.judged)))


def look(collection: Collection, rounds: Sequence[Round], how: Consolidation) -> FreezePreview:
    """Compute the labels that would be frozen, and check them against the gates."""
    judged = final_labels.read(collection, rounds, how)
    settled = final_labels.compute(collection, judged, how)
    stale = baselines.count_stale(rounds) if judged else 0
    return FreezePreview(how, judged, settled, gate.evaluate_gates(rounds, how.sources), stale)


def as_json(preview: FreezePreview, *, withheld: bool) -> dict[str, Any]:
    """Return the preview for the API, without grades of pairs that the caller may still grade."""
    settled, merged = preview.settled, preview.settled.merged
    hidden = {"value": None, "low": None, "high": None, "more_pairs": None, "advice": ""} if withheld else {}
    body = {"by_grade": {str(value): number for value, number in settled.by_grade.items()}, "rules": _rules(preview)}
    return {
        "labels": len(settled.labels),
        "ratings": settled.ratings,
        "conflicts": settled.conflicts,
        "adjudicated": settled.adjudicated,
        "without_grade": settled.without_rating - settled.zeroed,
        "unrateable": settled.unrateable,
        "unrateable_as_zero": settled.zeroed,
        "left_open": settled.left_open,
        "stale": preview.stale,
        "rated_again": merged.rated_again,
        "gates": [{"round": one.round.uuid, **one.answer.as_json(), **hidden} for one in preview.held],
        "bridges": [] if withheld else [{**one.as_json(), "round": one.round.uuid} for one in merged.bridges],
        "changed": None if withheld else len(merged.changes),
        **(dict.fromkeys(body) if withheld else body),
        "doubts": preview.doubts,
        "needs_reason": bool(preview.failed),
        "can_freeze": bool(settled.labels) and not preview.refused,
    }


def _rules(preview: FreezePreview) -> list[dict[str, Any]]:
    return [
        {
            "rule": one.rule,
            "labels": one.labels,
            "by_grade": {str(value): number for value, number in one.by_grade.items()},
            "raised": one.raised,
            "lowered": one.lowered,
            "no_label": preview.rated - one.labels,
        }
        for one in preview.rules
    ]
