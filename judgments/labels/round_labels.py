"""Labels of each round on its own, before rounds are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from judgments.models import Adjudication, Judgment, Round, Slot

if TYPE_CHECKING:
    from assay.core.ratings import Ratings


def pseudonyms(round_: Round) -> dict[int, str]:
    """Return the pseudonym of each rater that the round has ever had, by user id."""
    return dict(round_.raters.values_list("user_id", "pseudonym"))


def rating_rows(round_: Round, *, planned: bool = False) -> list[tuple[str, str, str, int]]:
    """Return the counted grades as (query_id, doc_id, pseudonym, grade)."""
    names = pseudonyms(round_)
    counted = Judgment.objects.counted().of_round(round_)
    counted = counted.planned() if planned else counted
    rows = counted.values_list("pair__query__query_id", "pair__document__doc_id", "rater_id", "grade")
    return [(query_id, doc_id, names[rater], grade) for query_id, doc_id, rater, grade in rows]


Key = tuple[str, str]
Row = tuple[str, str, str, int]


@dataclass(frozen=True)
class RatedRound:
    """The grades of a round, read once to be labeled under any number of rules."""

    round: Round
    rows: list[Row]
    resolved: dict[Key, int]
    not_judged: frozenset[Key]  # unrateable pairs without a grade
    unrateable: int
    pairs: int
    waiting: frozenset[Key] = frozenset()  # pairs of an open round with missing ratings, which are not conflicts yet

    @cached_property
    def ratings(self) -> Ratings:
        from assay.core.ratings import Ratings

        return Ratings.from_rows(self.rows)

    @cached_property
    def rated(self) -> frozenset[Key]:
        return frozenset((query_id, doc_id) for query_id, doc_id, _, _ in self.rows)


@dataclass(frozen=True)
class RoundLabels:
    """The labels of one round under a rule: resolutions, or grades from the rule."""

    of: RatedRound
    labels: dict[Key, int]
    ties: int
    conflicts: frozenset[Key]
    left_open: int  # pairs with grades for which the rule gives no label

    @property
    def round(self) -> Round:
        return self.of.round

    @property
    def unresolved(self) -> int:
        return len(self.conflicts - self.of.resolved.keys())


def read_rounds(rounds: Sequence[Round]) -> list[RatedRound]:
    """Return the rounds with their counted grades and resolutions, oldest first."""
    return [_read(round_) for round_ in sorted(rounds, key=lambda row: (row.created_at, row.pk))]


def _read(round_: Round) -> RatedRound:
    rows = rating_rows(round_)
    rated = {(query_id, doc_id) for query_id, doc_id, _, _ in rows}
    current = Judgment.objects.current().of_round(round_).filter(state=Judgment.State.UNRATEABLE)
    unrateable = set(current.values_list("pair__query__query_id", "pair__document__doc_id"))
    resolved = _resolved(round_)
    not_judged = frozenset(unrateable - rated - resolved.keys())
    return RatedRound(round_, rows, resolved, not_judged, len(unrateable), round_.pairs.count(), _waiting(round_))


def _waiting(round_: Round) -> frozenset[Key]:
    if round_.state != Round.State.OPEN:
        return frozenset()
    slots = Slot.objects.filter(round=round_, filled_by__isnull=True).order_by()
    return frozenset(slots.values_list("pair__query__query_id", "pair__document__doc_id"))


def _resolved(round_: Round) -> dict[Key, int]:
    rows = Adjudication.objects.current().filter(pair__round=round_)
    return {
        (query_id, doc_id): grade
        for query_id, doc_id, grade in rows.values_list("pair__query__query_id", "pair__document__doc_id", "grade")
    }


def label(rated: RatedRound, rule: str) -> RoundLabels:
    """Label a round under a rule, a member of ``assay.aggregation.RULES``."""
    from assay.aggregation import aggregate

    result = aggregate(rated.ratings, rule, tuple(rated.round.scale.values()))
    labels, conflicts, ties, left_open = dict[Key, int](), set[Key](), 0, 0
    for row in result.labels:
        key = row.query_id, row.doc_id
        if row.grade is not None:
            labels[key] = int(row.grade)
        if row.spread and key not in rated.waiting:
            conflicts.add(key)
        if key not in rated.resolved:
            ties += row.tie
            left_open += row.grade is None
    return RoundLabels(rated, labels | rated.resolved, ties, frozenset(conflicts), left_open)


def behind(rounds: Sequence[RatedRound]) -> list[Row]:
    """Return the judgments that decided each pair: those of its newest round, or the resolution there."""
    decisive: dict[Key, list[Row]] = {}
    for rated in rounds:
        of_round: dict[Key, list[Row]] = {}
        for row in rated.rows:
            of_round.setdefault(row[:2], []).append(row)
        decisive.update(of_round)
        decisive.update({pair: [(*pair, "", grade)] for pair, grade in rated.resolved.items()})
    return [row for rows in decisive.values() for row in rows]
