"""Tests of agreement without one rater: equal to agreement computed from the other raters' grades alone."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from assay.coefficients import agreement_report
from assay.coefficients.coefficient import GradeTable
from assay.coefficients.leave_one_out import without_each
from assay.core.ratings import Ratings

Row = tuple[str, str, str, int]


def rows_of(seed: int, raters: int = 5, units: int = 60, given: float = 0.6) -> list[Row]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, units)
    rows = []
    for rater in range(raters):
        for unit in range(units):
            if random.random() < given:
                grade = truth[unit] if random.random() < 0.6 else random.integers(0, 4)
                rows.append((f"q{unit % 7}", f"d{unit}", f"r{rater:02}", int(grade)))
    return rows


def left_out(rows: list[Row]) -> dict[str, dict[str, float | None]]:
    results = without_each(GradeTable.of(Ratings.from_rows(rows)), (0, 1, 2, 3))
    return {one.rater: {name: agreement.value for name, agreement in one.coefficients.items()} for one in results}


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_report_on_the_rows_of_the_others(seed: int) -> None:
    rows = rows_of(seed)
    for one in without_each(GradeTable.of(Ratings.from_rows(rows)), (0, 1, 2, 3)):
        others = Ratings.from_rows([row for row in rows if row[2] != one.rater])
        report = agreement_report(others, bootstrap=0)
        for name, agreement in one.coefficients.items():
            expected = report.coefficients[name]
            assert (agreement.reason, agreement.n) == (expected.reason, expected.n)
            assert agreement.value == (None if expected.value is None else pytest.approx(expected.value, abs=1e-12))
            assert agreement.percent_agreement == pytest.approx(expected.percent_agreement, abs=1e-12)


def test_it_equals_krippendorff_without_the_row_of_the_rater() -> None:
    rows = rows_of(9, raters=4)
    table = np.full((4, 60), np.nan)
    for _, document, rater, grade in rows:
        table[int(rater[1:]), int(document[1:])] = grade
    for rater, coefficients in left_out(rows).items():
        rest = np.delete(table, int(rater[1:]), axis=0)
        theirs = krippendorff.alpha(rest, level_of_measurement="ordinal", value_domain=[0, 1, 2, 3])
        assert coefficients["alpha-ordinal"] == pytest.approx(theirs, abs=1e-9)


def test_no_rater_of_two_can_be_left_out() -> None:
    assert left_out(rows_of(1, raters=2)) == {}


def test_without_a_rater_of_half_the_overlap_agreement_is_undefined() -> None:
    rows = [("q", f"d{n}", rater, n % 3) for n in range(6) for rater in ("r00", "r01" if n < 3 else "r02")]
    (without, *_) = without_each(GradeTable.of(Ratings.from_rows(rows)), (0, 1, 2, 3))
    alpha = without.coefficients["alpha-ordinal"]
    assert (without.rater, alpha.value, alpha.reason, alpha.n) == ("r00", None, "no_overlap", 0)
