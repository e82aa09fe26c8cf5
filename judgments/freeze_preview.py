"""Preview of a snapshot: the labels that would be frozen, and what a lead should know first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judgments import gates, labels, manifests, merging, stale_labels
from judgments.gates import Held
from judgments.labels import Consolidation, Settled
from judgments.models import Collection, Round
from judgments.round_labels import RatedRound
from judgments.rule_effects import RuleEffect, compare_rules


@dataclass(frozen=True)
class FreezePreview:
    """The labels that would be frozen, and all that a lead should know first. Nothing is stored."""

    how: Consolidation
    judged: list[RatedRound]
    settled: Settled
    held: list[Held]
    stale: int

    @property
    def failed(self) -> list[Held]:
        """The rounds that are frozen with a reason, or not."""
        return [one for one in self.held if one.failed]

    @property
    def refused(self) -> bool:
        """Whether older guidelines are not bridged, and have to be."""
        return self.how.merge == merging.BRIDGED and bool(self.settled.merged.unbridged)

    @property
    def doubts(self) -> list[str]:
        """What a careful lead would look at before freezing, in sentences."""
        told = manifests.doubts(self.settled, self.how, self.stale)
        return [*told, *(one.warning for one in self.held if one.warning)]

    @property
    def documents(self) -> dict[str, set[str]]:
        """The documents with a label, by query."""
        found: dict[str, set[str]] = {}
        for label in self.settled.labels:
            found.setdefault(label.query_id, set()).add(label.doc_id)
        return found

    @cached_property
    def rules(self) -> list[RuleEffect]:
        """What the labels of the rounds would be under each rule."""
        return compare_rules(self.judged, self.how.rule) if self.judged else []

    @property
    def rated(self) -> int:
        """Pairs with a grade or a settlement."""
        return len(set().union(*(one.rated | one.settled.keys() for one in self.judged)))


def look(collection: Collection, rounds: Sequence[Round], how: Consolidation) -> FreezePreview:
    """Settle what would be frozen, and hold it against the gates.

    Raises
    ------
    NotValid
        The rounds do not go together, or there is no such rule, merge or source.
    """
    judged = labels.read(collection, rounds, how)
    settled = labels.settle(collection, judged, how)
    stale = stale_labels.count(rounds) if judged else 0
    return FreezePreview(how, judged, settled, gates.hold(rounds, how.sources), stale)


def as_json(preview: FreezePreview, *, withheld: bool) -> dict[str, Any]:
    """The shape of the API; without grades for a caller who may still have to give some of them."""
    settled, merged = preview.settled, preview.settled.merged
    told = {"by_grade": {str(value): number for value, number in settled.by_grade.items()}, "rules": _rules(preview)}
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
        "gates": [{"round": one.round.uuid, **one.as_json()} for one in preview.held],
        "bridges": [] if withheld else [{**one.as_json(), "round": one.round.uuid} for one in merged.bridges],
        "changed": None if withheld else len(merged.changes),
        **(dict.fromkeys(told) if withheld else told),
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
