"""Merging of the labels of several rounds, with a report of the labels that a later round changed.

The newest round takes precedence for each pair. The merge rule decides whether rounds with different guidelines may be
merged; it is part of a snapshot's provenance. ``bridged`` requires that enough of an older round was rated again under
newer guidelines to compare the meaning of the grades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from assay.coefficients import agreement_report
from assay.core.errors import NotValid
from assay.core.ratings import Ratings
from assay.core.text_rules import agree, amount
from judgments.labels.round_labels import Key, RoundLabels
from judgments.models import Round

NEWEST, SAME, BRIDGED = "newest", "same-guidelines", "bridged"
MERGES = (NEWEST, SAME, BRIDGED)
# The share of an older round's labeled pairs that must be labeled again.
OVERLAP = 0.2
RESAMPLES = 1_000


@dataclass(frozen=True)
class Change:
    """A pair whose label differs between an older and a newer round."""

    query_id: str
    doc_id: str
    before: int
    after: int
    older: str
    newer: str

    @property
    def steps(self) -> int:
        return abs(self.after - self.before)


@dataclass(frozen=True)
class Bridge:
    """The overlap of an older round with newer rounds under other guidelines, and the agreement of its labels."""

    round: Round
    newer: tuple[Round, ...]
    labelled: int
    shared: list[tuple[Key, int, int]]

    @property
    def share(self) -> float:
        return len(self.shared) / self.labelled

    @property
    def needed(self) -> int:
        """The number of pairs of the older round that must be rated again in total."""
        return math.ceil(OVERLAP * self.labelled)

    @property
    def more(self) -> int:
        """The number of pairs that must still be rated again."""
        return max(0, self.needed - len(self.shared))

    @property
    def holds(self) -> bool:
        return not self.more

    @property
    def same(self) -> int:
        return sum(before == after for _, before, after in self.shared)

    @cached_property
    def agreement(self) -> dict[str, Any]:
        """Ordinal alpha and quadratic kappa of old and new labels, with intervals over queries."""
        rows = [row for pair, old, new in self.shared for row in ((*pair, "new", new), (*pair, "old", old))]
        values = tuple(self.round.scale.values())
        report = agreement_report(Ratings.from_rows(rows), values, bootstrap=RESAMPLES, seed=0).as_json()
        kappa = report["cohen"][0] if report["cohen"] else None
        return {
            "alpha": report["alpha"]["ordinal"],
            "kappa": None if kappa is None else {"value": kappa["quadratic"], **kappa["intervals"]["quadratic"]},
        }

    def as_json(self) -> dict[str, Any]:
        """Return the bridge as the manifest stores it, with versions instead of round names, which can change."""
        return {
            "round": self.round.name,
            "guidelines_version": self.round.guidelines.number,
            "newer_guidelines_versions": sorted({one.guidelines.number for one in self.newer}),
            "labelled": self.labelled,
            "rated_again": len(self.shared),
            "needed": self.needed,
            "same": self.same,
            "agreement": self.agreement,
        }


@dataclass(frozen=True)
class Merged:
    """The merged labels of all rounds, with the changes and bridges between rounds."""

    labels: dict[Key, int] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    bridges: list[Bridge] = field(default_factory=list)
    rated_again: int = 0  # pairs with a label in more than one round

    @property
    def unbridged(self) -> list[Bridge]:
        return [bridge for bridge in self.bridges if not bridge.holds]


def merge(rounds: Sequence[RoundLabels]) -> Merged:
    """Merge the labels of rounds, given oldest first; the newest round takes precedence for each pair."""
    labels: dict[Key, int] = {}
    given_by: dict[Key, str] = {}
    changes: dict[Key, Change] = {}
    again: set[Key] = set()
    for one in rounds:
        for key, grade in one.labels.items():
            before = labels.get(key)
            if before is not None:
                again.add(key)
                changes.pop(key, None)
                if before != grade:
                    changes[key] = Change(*key, before, grade, given_by[key], one.round.name)
            labels[key] = grade
            given_by[key] = one.round.name
    ordered = [changes[key] for key in sorted(changes)]
    return Merged(labels, ordered, _bridges(rounds), len(again))


def _bridges(rounds: Sequence[RoundLabels]) -> list[Bridge]:
    bridges = []
    for place, one in enumerate(rounds):
        newer = [other for other in rounds[place + 1 :] if other.round.guidelines.sha256 != one.round.guidelines.sha256]
        if not newer or not one.labels:
            continue
        latest: dict[Key, int] = {}
        for other in newer:
            latest |= other.labels
        shared = [(key, grade, latest[key]) for key, grade in sorted(one.labels.items()) if key in latest]
        bridges.append(Bridge(one.round, tuple(other.round for other in newer), len(one.labels), shared))
    return bridges


def check(rounds: Sequence[Round], merge: str) -> None:
    """Refuse an unknown merge rule, and rounds whose dimension or guidelines the rule does not allow."""
    if merge not in MERGES:
        raise NotValid(f"Unknown merge rule {merge!r}.", {"merge": f"Use one of {', '.join(MERGES)}."})
    if len({round_.dimension for round_ in rounds}) > 1:
        dimensions = ", ".join(f"{round_} ({round_.dimension or 'documents'})" for round_ in rounds)
        raise NotValid(
            f"The rounds grade different things ({dimensions}), so their labels cannot be merged.",
            {"rounds": "Choose rounds of documents, or rounds of answers on one dimension."},
        )
    if merge == SAME and len({round_.guidelines.sha256 for round_ in rounds}) > 1:
        raise NotValid(
            "The rounds were judged under different guidelines, so their grades may differ in meaning.",
            {
                "merge": "Choose rounds with the same guidelines version, rate an overlap again as a bridge, or use "
                "the merge rule `newest`."
            },
        )


def check_bridges(merged: Merged, merge: str) -> None:
    """Refuse rounds that are not bridged if the merge rule requires it."""
    if merge == BRIDGED and merged.unbridged:
        problems = "; ".join(in_words(bridge) for bridge in merged.unbridged)
        raise NotValid(f"These rounds are not bridged. {problems}.", {"merge": f"{problems}."})


def in_words(bridge: Bridge) -> str:
    """Return a sentence, without a period, that states how much of the round was rated again."""
    many = f"{len(bridge.shared):,} of the {amount(bridge.labelled, 'labeled pair')} of {bridge.round}"
    sentence = (
        f"{many} ({bridge.share:.0%}) {agree(len(bridge.shared), 'was', 'were')} rated again under newer guidelines"
    )
    return (
        sentence if bridge.holds else f"{sentence}; {amount(bridge.needed, 'is', 'are')} needed, {bridge.more:,} more"
    )
