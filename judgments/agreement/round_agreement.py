"""Agreement of a round's raters."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any

from judgments.agreement import round_report
from judgments.agreement.round_report import BOOTSTRAP
from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Judgment, Round, User


def agreement(round_: Round, *, bootstrap: int = BOOTSTRAP, seed: int = 0) -> dict[str, Any]:
    """Return the current agreement of the round in the format of ``assay agreement --format json``."""
    if (bootstrap, seed) == (BOOTSTRAP, 0):
        report: dict[str, Any] = round_report.exact(round_)["agreement"]
        return report
    from assay.coefficients import agreement_report
    from judgments.agreement.grade_tables import planned_grades

    table = planned_grades(round_).table
    return agreement_report(table, tuple(round_.scale.values()), bootstrap=bootstrap, seed=seed).as_json()


def grade_pairs(round_: Round, *, viewer: User) -> dict[tuple[int, int], int]:
    """Count how often two raters gave a pair these two grades, lower first, without hidden pairs."""
    hidden = pairs_with_hidden_grades(viewer, round_)
    rows = Judgment.objects.counted().planned().of_round(round_).exclude(pair__in=hidden)
    given: dict[int, list[int]] = defaultdict(list)
    for pair_id, grade in rows.order_by().values_list("pair_id", "grade"):
        given[pair_id].append(grade)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for grades in given.values():
        for low, high in combinations(sorted(grades), 2):
            counts[low, high] += 1
    return dict(counts)
