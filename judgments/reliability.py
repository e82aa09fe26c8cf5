"""Agreement of a round's raters, and the counted grades that it is computed from."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any

from judgments import round_reports
from judgments.models import Judgment, Round, User
from judgments.round_reports import BOOTSTRAP
from judgments.untold import untold_pairs


def pseudonyms(round_: Round) -> dict[int, str]:
    """User id to pseudonym, for everybody who was ever asked."""
    return dict(round_.raters.values_list("user_id", "pseudonym"))


def rating_rows(round_: Round, *, planned: bool = False) -> list[tuple[str, str, str, int]]:
    """The counted grades as (query_id, doc_id, pseudonym, grade): what labels are computed from.

    Those that are ``planned`` alone are what raters are compared by.
    """
    names = pseudonyms(round_)
    counted = Judgment.objects.counted().of_round(round_)
    counted = counted.planned() if planned else counted
    rows = counted.values_list("pair__query__query_id", "pair__document__doc_id", "rater_id", "grade")
    return [(query_id, doc_id, names[rater], grade) for query_id, doc_id, rater, grade in rows]


def agreement(round_: Round, *, bootstrap: int = BOOTSTRAP, seed: int = 0) -> dict[str, Any]:
    """The round's agreement as it is now, in the shape of ``assay agreement --format json``.

    Computed once for each state of the round. What must not wait reads `round_reports.look` instead.

    Parameters
    ----------
    round_ : Round
        Its counted grades are compared; machines, surplus, imported labels, and what was called in because two grades
        lay apart, are not among them.
    bootstrap : int
        How often queries are drawn again for the interval.
    seed : int
        For the draws.

    Returns
    -------
    dict
        Every coefficient with value or reason, n, overlap and a 95 % interval.
    """
    if (bootstrap, seed) == (BOOTSTRAP, 0):
        found: dict[str, Any] = round_reports.exact(round_)["agreement"]
        return found
    from judgments.agreement import agreement_report
    from judgments.grade_tables import planned_grades

    table = planned_grades(round_).table
    return agreement_report(table, tuple(round_.scale.values()), bootstrap=bootstrap, seed=seed).as_json()


def grade_pairs(round_: Round, *, viewer: User) -> dict[tuple[int, int], int]:
    """How often two raters gave one pair these two grades, the lower first; what the viewer may still grade left out.

    Returns
    -------
    dict of (int, int) to int
        A pair with three grades counts three times: once for each two of its raters. Without those that were called in.
    """
    hidden = untold_pairs(viewer, round_)
    rows = Judgment.objects.counted().planned().of_round(round_).exclude(pair__in=hidden)
    given: dict[int, list[int]] = defaultdict(list)
    for pair_id, grade in rows.order_by().values_list("pair_id", "grade"):
        given[pair_id].append(grade)
    found: dict[tuple[int, int], int] = defaultdict(int)
    for grades in given.values():
        for low, high in combinations(sorted(grades), 2):
            found[low, high] += 1
    return dict(found)
