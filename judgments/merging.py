"""Merge the labels of several rounds into one set, and report what a later round changed.

The newest round wins for each pair. The merge rule decides under which conditions rounds with different guidelines
may be merged at all; it is part of a snapshot's provenance. ``bridged`` requires that enough of an older round was
rated again under newer guidelines to show how far the grades still mean the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judgments.core.amounts import agree, amount
from judgments.core.errors import NotValid
from judgments.models import Round
from judgments.round_labels import Key, RoundLabels

NEWEST, SAME, BRIDGED = "newest", "same-guidelines", "bridged"
MERGES = (NEWEST, SAME, BRIDGED)
# The share of an older round's labelled pairs that has to be labelled again.
OVERLAP = 0.2
RESAMPLES = 1_000


@dataclass(frozen=True)
class Change:
    """A pair to which a newer round gave another label than an older one did."""

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
    """An older round beside the newer rounds under other guidelines: what was rated again, and how it came out.

    Parameters
    ----------
    round : Round
        The older round.
    newer : tuple of Round
        The rounds after it under other guidelines.
    labelled : int
        Pairs of the older round with a label.
    shared : list of (key, int, int)
        Those with a label in a newer round too: the pair, the older label, the newer one.
    """

    round: Round
    newer: tuple[Round, ...]
    labelled: int
    shared: list[tuple[Key, int, int]]

    @property
    def share(self) -> float:
        return len(self.shared) / self.labelled

    @property
    def needed(self) -> int:
        """How many pairs have to be rated again in all."""
        return math.ceil(OVERLAP * self.labelled)

    @property
    def more(self) -> int:
        """How many pairs are missing until the bridge holds."""
        return max(0, self.needed - len(self.shared))

    @property
    def holds(self) -> bool:
        return not self.more

    @property
    def same(self) -> int:
        return sum(before == after for _, before, after in self.shared)

    @cached_property
    def agreement(self) -> dict[str, Any]:
        """Ordinal alpha and quadratic kappa of old against new labels, with intervals over queries."""
        from judgments.agreement import agreement_report
        from judgments.core.ratings import Ratings

        rows = [row for pair, old, new in self.shared for row in ((*pair, "new", new), (*pair, "old", old))]
        values = tuple(self.round.scale.values())
        report = agreement_report(Ratings.from_rows(rows), values, bootstrap=RESAMPLES, seed=0).as_json()
        kappa = report["cohen"][0] if report["cohen"] else None
        return {
            "alpha": report["alpha"]["ordinal"],
            "kappa": None if kappa is None else {"value": kappa["quadratic"], **kappa["intervals"]["quadratic"]},
        }

    def as_json(self) -> dict[str, Any]:
        """What the manifest says: by guidelines version, as rounds have names that change nothing."""
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
    """The labels of all rounds together, and what came of putting them together."""

    labels: dict[Key, int] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    bridges: list[Bridge] = field(default_factory=list)
    rated_again: int = 0  # pairs with a label in more than one round

    @property
    def unbridged(self) -> list[Bridge]:
        return [bridge for bridge in self.bridges if not bridge.holds]


def merge(rounds: Sequence[RoundLabels]) -> Merged:
    """Put the labels of rounds together, given the oldest first: the newest wins for each pair."""
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
    found = [changes[key] for key in sorted(changes)]
    return Merged(labels, found, _bridges(rounds), len(again))


def _bridges(rounds: Sequence[RoundLabels]) -> list[Bridge]:
    found = []
    for place, one in enumerate(rounds):
        newer = [other for other in rounds[place + 1 :] if other.round.guidelines.sha256 != one.round.guidelines.sha256]
        if not newer or not one.labels:
            continue
        latest: dict[Key, int] = {}
        for other in newer:
            latest |= other.labels
        shared = [(key, grade, latest[key]) for key, grade in sorted(one.labels.items()) if key in latest]
        found.append(Bridge(one.round, tuple(other.round for other in newer), len(one.labels), shared))
    return found


def check(rounds: Sequence[Round], merge: str) -> None:
    """That the merge rule is known, and that the rounds fit it as far as their guidelines decide it."""
    if merge not in MERGES:
        raise NotValid(f"There is no merge rule {merge!r}.", {"merge": f"One of {', '.join(MERGES)}."})
    if len({round_.dimension for round_ in rounds}) > 1:
        found = ", ".join(f"{round_} ({round_.dimension or 'documents'})" for round_ in rounds)
        raise NotValid(
            f"These rounds grade different things: {found}. Their labels cannot be merged.",
            {"rounds": "Choose rounds of documents, or rounds of answers on one dimension."},
        )
    if merge == SAME and len({round_.guidelines.sha256 for round_ in rounds}) > 1:
        raise NotValid(
            "These rounds were judged under different guidelines, so their grades do not mean the same.",
            {"merge": "Choose rounds of one guidelines version, bridge them, or let the newest round win and say so."},
        )


def check_bridges(merged: Merged, merge: str) -> None:
    """That every older round is bridged, where the merge rule asks for it.

    Raises
    ------
    NotValid
        Too little of a round was rated again; it says how many pairs more are needed.
    """
    if merge == BRIDGED and merged.unbridged:
        said = "; ".join(in_words(bridge) for bridge in merged.unbridged)
        raise NotValid(f"These rounds are not bridged. {said}.", {"merge": f"{said}."})


def in_words(bridge: Bridge) -> str:
    """How far a round is bridged, as a sentence without its full stop."""
    many = f"{len(bridge.shared):,} of the {amount(bridge.labelled, 'labelled pair')} of {bridge.round}"
    said = f"{many} ({bridge.share:.0%}) {agree(len(bridge.shared), 'was', 'were')} rated again under newer guidelines"
    return said if bridge.holds else f"{said}; {amount(bridge.needed, 'is', 'are')} needed, {bridge.more:,} more"
