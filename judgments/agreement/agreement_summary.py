"""Visibility of agreement: the numbers of a round that a reader may see while they can still grade its pairs.

A reader who knows the other grades can compute the coefficients for every possible hidden grade and compare. With all
digits, they reveal the grade. With two digits they still do over a few hundred pairs, because a report has many
coefficients; over a thousand pairs, several grades remain possible. So numbers over fewer pairs are hidden, and the
others are rounded. Counts per grade, and numbers for a single query or tier, can reveal a grade too.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from typing import Any

from assay.coefficients.gate import GateAnswer, decide
from judgments.agreement import round_report
from judgments.agreement.round_report import AT_ONCE, Look, events
from judgments.labels.grade_visibility import LEAST_PAIRS, pairs_with_hidden_grades, too_few_pairs, without_hidden
from judgments.models import Judgment, Pair, Query, Round, User
from judgments.rounds import settings


def answer(round_: Round) -> GateAnswer:
    """Check the round's current agreement against its gate."""
    return of_report(round_, agreement(round_))


def of_report(round_: Round, agreement: dict[str, Any]) -> GateAnswer:
    """Check a stored report against the round's gate, for pages that cannot wait for a newer report."""
    over = round_.state == Round.State.CLOSED
    return decide(agreement, round_.gate_coefficient, round_.gate_threshold, over=over)


def set_gate(round_: Round, *, coefficient: str, threshold: float, actor: User) -> Round:
    """Change the coefficient or threshold of the round's gate; the audit trail records the old and new values."""
    changes = {"gate_coefficient": coefficient, "gate_threshold": threshold}
    return settings.change(round_, changes, actor=actor)


def agreement(round_: Round) -> dict[str, Any]:
    """Return the current agreement of the round in the format of ``assay agreement --format json``."""
    report: dict[str, Any] = round_report.exact(round_)["agreement"]
    return report


def grade_pairs(round_: Round, *, viewer: User) -> dict[tuple[int, int], int]:
    """Count how often two raters gave a pair these two grades, lower first, without hidden pairs."""
    rows = without_hidden(Judgment.objects.counted().planned().of_round(round_), viewer, round_)
    given: dict[int, list[int]] = defaultdict(list)
    for pair_id, grade in rows.order_by().values_list("pair_id", "grade"):
        given[pair_id].append(grade)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for grades in given.values():
        for low, high in combinations(sorted(grades), 2):
            counts[low, high] += 1
    return dict(counts)


# The number of digits that a reader who still rates may see.
DIGITS = 2
HIDDEN = "hidden"


class AgreementSummary:
    """The part of a round's agreement report that one reader may see."""

    def __init__(self, round_: Round, look: Look, viewer: Any) -> None:
        self.round, self.look, self.viewer = round_, look, viewer
        self._hidden = Pair.objects.none() if viewer is None else pairs_with_hidden_grades(viewer, round_)
        self.rates = self._hidden.exists()

    @property
    def agreement(self) -> dict[str, Any]:
        """The report, without values that could reveal a grade to a reader who still rates."""
        report = self.look.agreement
        if not self.rates:
            return report
        # A rater who gave all pairs the same grade also gave it to the pairs that the reader may still grade.
        codes = {one["code"] for one in report["warnings"]} - {"one_category_rater"}
        codes = codes & {"not_enough_overlap"} if too_few_pairs(report["overlap"]) else codes
        warnings = [one for one in report["warnings"] if one["code"] in codes]
        return {**_rough(report), "confusion": [], "grades": [], "shares": [], "warnings": warnings}

    @property
    def gate(self) -> GateAnswer:
        """The result of the gate, computed from all grades, with numbers rounded as in `agreement`."""
        answer = of_report(self.round, self.look.agreement)
        if not self.rates:
            return answer
        rough = of_report(self.round, _rough(self.look.agreement))
        if too_few_pairs(rough.n):
            # "Undefined" would reveal that all grades are the same.
            return replace(rough, state="undecided" if answer.state == "undefined" else answer.state)
        same = rough.state == answer.state
        return rough if same else replace(rough, state=answer.state, advice=answer.advice, more_pairs=None)

    @property
    def called_in(self) -> int:
        """The number of grades that are not compared, because they were requested after two raters differed."""
        return (self.look.report or {}).get("called_in", 0)

    @property
    def overlap_to_come(self) -> int:
        """The number of pairs that can still get a second grade; 0 if the round accepts no judgments."""
        is_open = self.round.state == Round.State.OPEN
        return (self.look.report or {}).get("overlap_to_come", 0) if is_open else 0

    @property
    def hidden(self) -> int:
        """The number of pairs that the reader may still grade."""
        return self._hidden.count() if self.rates else 0

    @property
    def by_query(self) -> list[dict[str, Any]]:
        """The agreement within each query, without queries with a pair that the reader may still grade."""
        return self._parts("by_query", "query_id")

    @property
    def by_tier(self) -> list[dict[str, Any]]:
        """The agreement within each tier. A tier may contain a single query, so the same rule applies."""
        return self._parts("by_tier", "tier")

    def _parts(self, kind: str, named_by: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (self.look.report or {}).get(kind, [])
        if not self.rates:
            return rows
        if not self._at_once:
            return []
        hidden = set(Query.of_any_kind.filter(pk__in=self._hidden.values("query")).values_list(named_by, flat=True))
        return [row for row in rows if row["name"] not in hidden]

    @property
    def without(self) -> list[dict[str, Any]]:
        """The coefficients without each rater. With few pairs the difference reveals one rater's grades."""
        return [] if self.rates else (self.look.report or {}).get("without", [])

    @property
    def confusion(self) -> dict[tuple[int, int], int]:
        """How often two raters gave a pair these two grades, lower first, without hidden pairs."""
        if self.rates:
            return grade_pairs(self.round, viewer=self.viewer) if self._at_once else {}
        values = self.round.scale.values()
        rows = self.look.agreement["confusion"]
        cells = ((low, high, number) for low, row in enumerate(rows) for high, number in enumerate(row) if number)
        return {(values[low], values[high]): number for low, high, number in cells}

    @property
    def _at_once(self) -> bool:
        return events(self.round) <= AT_ONCE


def _rough(report: Any, *, withheld: bool = False) -> Any:
    """Return a report with rounded fractions, without those over few pairs."""
    if isinstance(report, dict):
        withheld = too_few_pairs(report.get("n", report.get("overlap", LEAST_PAIRS))) or withheld
        rough = {name: _rough(value, withheld=withheld) for name, value in report.items()}
        return {**rough, "reason": HIDDEN} if withheld and "reason" in report else rough
    if isinstance(report, list | tuple):
        return [_rough(value, withheld=withheld) for value in report]
    if isinstance(report, float):
        return None if withheld else round(report, DIGITS)
    return report
