"""Warnings about ratings: copied grades, raters who use a single grade, too little overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.coefficients.coefficient import GradeTable
from assay.coefficients.grade_patterns import Floats, Ints
from assay.coefficients.rater_pairs import RaterPair
from assay.core.counted_nouns import amount

LEAST_SHARED = 20
LEAST_GRADES = 5
SUSPICIOUS = 1e-4
USUAL_AGREEMENT = 0.85
COPY_DIFFERS = 0.5
ENOUGH_UNITS, ENOUGH_QUERIES = 200, 30


@dataclass(frozen=True)
class AgreementWarning:
    """A warning that a reader of the coefficients must know."""

    code: str
    raters: tuple[str, ...]
    message: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {"code": self.code, "raters": list(self.raters), "message": self.message}


def copied_raters(pairs: Sequence[RaterPair], raters: Sequence[str]) -> list[AgreementWarning]:
    """Find pairs of raters who agree far more often than other raters."""
    shared, equal = [pair.n for pair in pairs], [pair.equal for pair in pairs]
    everything, all_equal = sum(shared), sum(equal)
    alone = max(USUAL_AGREEMENT, _by_chance(pairs))
    warnings = []
    for pair, n, x in zip(pairs, shared, equal, strict=True):
        rest = everything - n
        usual = (all_equal - x + 1) / (rest + 2) if rest >= LEAST_SHARED else alone
        if n < LEAST_SHARED or (pair.table > 0).sum() < 2:
            continue
        # Over thousands of pairs, even a few percent are significant, and people who think alike do not copy.
        if (n - x) / n > COPY_DIFFERS * (1 - usual):
            continue
        if _chance_of_at_least(x, n, usual) * len(pairs) < SUSPICIOUS:
            a, b = raters[pair.a], raters[pair.b]
            message = f"{a} and {b} gave the same grade to {x} of {n} shared pairs; {usual:.0%} is usual. "
            warnings.append(
                AgreementWarning("copied_raters", (a, b), message + "Check whether one copied from the other")
            )
    return warnings


def _by_chance(pairs: Sequence[RaterPair]) -> float:
    """Return how often two raters agree by chance, given the frequency of each grade."""
    given = sum((pair.table.sum(axis=0) + pair.table.sum(axis=1) for pair in pairs), np.zeros(1))
    return float(((given / given.sum()) ** 2).sum()) if given.sum() else 0.0


def _chance_of_at_least(x: int, n: int, share: float) -> float:
    def log_chance(k: int) -> float:
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return ways + k * math.log(share) + (n - k) * math.log1p(-share)

    return math.fsum(math.exp(log_chance(k)) for k in range(x, n + 1))


def one_category_raters(table: GradeTable, codes: Ints, scale: Floats) -> list[AgreementWarning]:
    """Find raters who gave the same grade to five or more pairs for which others used several grades."""
    size = max(len(scale), 1)
    given = np.bincount(table.rater * size + codes, minlength=len(table.raters) * size).reshape(-1, size)
    if (given.sum(axis=0) > 0).sum() < 2:
        return []
    warnings: list[AgreementWarning] = []
    for rater, times in zip(table.raters, given, strict=True):
        if times.sum() >= LEAST_GRADES and times.max() == times.sum():
            message = f"{rater} gave the grade {scale[times.argmax()]:g} to all {times.sum()} pairs. "
            warnings.append(AgreementWarning("one_category_rater", (rater,), message + "Review some of them together"))
    return warnings


def small_overlap(units: int, queries: int) -> list[AgreementWarning]:
    """Return a warning if there is too little overlap: 200 pairs from 30 queries are needed."""
    if units >= ENOUGH_UNITS and queries >= ENOUGH_QUERIES:
        return []
    message = f"{amount(units, 'pair')} from {amount(queries, 'query', 'queries')} with two or more grades; "
    need = f"any decision needs at least {ENOUGH_UNITS} pairs from {ENOUGH_QUERIES} queries"
    return [AgreementWarning("not_enough_overlap", (), message + need)]
