"""Preview of a snapshot: the labels that would be frozen, with warnings for the lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judgments.agreement import freeze_gate
from judgments.agreement.freeze_gate import GateResult
from judgments.labels.round_labels import RatedRound
from judgments.models import Collection, Round
from judgments.snapshots import final_labels, manifest, merging, stale_labels
from judgments.snapshots.final_labels import Consolidation, LabelSet
from judgments.snapshots.rule_effects import RuleEffect, compare_rules


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
        doubts = manifest.doubts(self.settled, self.how, self.stale)
        return [*doubts, *(one.warning for one in self.held if one.warning)]

    @property
    def documents(self) -> dict[str, set[str]]:
        """The documents with a label, by query."""
        doc_ids: dict[str, set[str]] = {}
        for label in self.settled.labels:
            doc_ids.setdefault(label.query_id, set()).add(label.doc_id)
        return doc_ids

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
    stale = stale_labels.count(rounds) if judged else 0
    return FreezePreview(how, judged, settled, freeze_gate.evaluate_gates(rounds, how.sources), stale)


def as_json(preview: FreezePreview, *, withheld: bool) -> dict[str, Any]:
    """Return the preview for the API, without grades of pairs that the caller may still grade."""
    settled, merged = preview.settled, preview.settled.merged
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
        "gates": [{"round": one.round.uuid, **_gate(one, withheld)} for one in preview.held],
        "bridges": [] if withheld else [{**one.as_json(), "round": one.round.uuid} for one in merged.bridges],
        "changed": None if withheld else len(merged.changes),
        **(dict.fromkeys(body) if withheld else body),
        "doubts": preview.doubts,
        "needs_reason": bool(preview.failed),
        "can_freeze": bool(settled.labels) and not preview.refused,
    }


def _gate(result: GateResult, withheld: bool) -> dict[str, Any]:
    hidden = {"value": None, "low": None, "high": None, "more_pairs": None, "advice": ""} if withheld else {}
    return {**result.as_json(), **hidden}


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
