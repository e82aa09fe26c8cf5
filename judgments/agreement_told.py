"""Visibility of agreement: which numbers of a round a reader may see while they can still grade its pairs.

A coefficient over a round of some size, rounded to two digits, reveals no single grade. With all of its digits it
does: a reader who knows the other grades can compute it for every possible hidden grade and compare. Counts per
grade, and numbers for a single query or tier, can reveal a grade too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from judgments import gate
from judgments.agreement.gate import GateAnswer
from judgments.models import Query, Round, User
from judgments.reliability import grade_pairs
from judgments.round_reports import AT_ONCE, Look, events
from judgments.untold import untold_pairs

# What a reader who still rates is told of a coefficient.
DIGITS = 2


class Told:
    """A look at a report with the eyes of one reader.

    Parameters
    ----------
    round_ : Round
        Whose report.
    look : Look
        What is there of it.
    viewer : User
        Who reads.
    """

    def __init__(self, round_: Round, look: Look, viewer: User) -> None:
        self.round, self.look, self.viewer = round_, look, viewer
        self._untold = untold_pairs(viewer, round_)
        self.rates = self._untold.exists()

    @property
    def agreement(self) -> dict[str, Any]:
        """The report; without what may tell a grade for a reader who still rates."""
        found = self.look.agreement
        if not self.rates:
            return found
        # Who gave all pairs one grade gave it to those that the reader may still grade, too.
        warnings = [one for one in found["warnings"] if one["code"] != "one_category_rater"]
        return {**_rough(found), "confusion": [], "grades": [], "shares": [], "warnings": warnings}

    @property
    def gate(self) -> GateAnswer:
        """What the round's gate says: of all grades for everybody, with its numbers as `agreement` tells them."""
        answer = gate.of_report(self.round, self.look.agreement)
        if not self.rates:
            return answer
        rough = gate.of_report(self.round, _rough(self.look.agreement))
        same = rough.state == answer.state
        return rough if same else replace(rough, state=answer.state, advice=answer.advice, more_pairs=None)

    @property
    def called_in(self) -> int:
        """How many grades are not among those compared, since they were called in where two lay apart."""
        return (self.look.report or {}).get("called_in", 0)

    @property
    def overlap_to_come(self) -> int:
        """How many pairs can still get their second grade; none in a round that takes no answers."""
        is_open = self.round.state == Round.State.OPEN
        return (self.look.report or {}).get("overlap_to_come", 0) if is_open else 0

    @property
    def hidden(self) -> int:
        """How many pairs the reader may still grade."""
        return self._untold.count() if self.rates else 0

    @property
    def by_query(self) -> list[dict[str, Any]]:
        """The agreement within each query, without those of which the reader may still grade a pair."""
        return self._parts("by_query", "query_id")

    @property
    def by_tier(self) -> list[dict[str, Any]]:
        """The same within each tier: it may hold one query, and whoever stores queries decides which."""
        return self._parts("by_tier", "tier")

    def _parts(self, kind: str, named_by: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (self.look.report or {}).get(kind, [])
        if not self.rates:
            return rows
        if not self._at_once:
            return []
        hidden = set(Query.of_any_kind.filter(pk__in=self._untold.values("query")).values_list(named_by, flat=True))
        return [row for row in rows if row["name"] not in hidden]

    @property
    def without(self) -> list[dict[str, Any]]:
        """The coefficients without each rater; of few pairs the difference tells what one rater gave."""
        return [] if self.rates else (self.look.report or {}).get("without", [])

    @property
    def confusion(self) -> dict[tuple[int, int], int]:
        """How often two raters gave one pair these two grades, the lower first; without pairs still to be graded.

        Empty for a reader who rates in a round that is too large to be counted for one person.
        """
        if self.rates:
            return grade_pairs(self.round, viewer=self.viewer) if self._at_once else {}
        values = self.round.scale.values()
        rows = self.look.agreement["confusion"]
        cells = ((low, high, number) for low, row in enumerate(rows) for high, number in enumerate(row) if number)
        return {(values[low], values[high]): number for low, high, number in cells}

    @property
    def _at_once(self) -> bool:
        return events(self.round) <= AT_ONCE


def _rough(told: Any) -> Any:
    """A report with every fraction in it rounded."""
    if isinstance(told, dict):
        return {name: _rough(value) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return [_rough(value) for value in told]
    return round(told, DIGITS) if isinstance(told, float) else told
