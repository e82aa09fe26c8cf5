"""Agreement coefficients compared with krippendorff, scikit-learn and statsmodels on generated grades."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from assay.coefficients import agreement_report, cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha
from assay.coefficients.by_grade import by_query, by_tier
from assay.coefficients.coefficient import GradeTable
from assay.coefficients.intervals import draws

SEEDS = range(6)
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def matrix(seed: int, raters: int = 5, units: int = 80, grades: int = 4, given: float = 0.6) -> Matrix:
    """Raters x units with NaN where a rater did not grade."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, grades, units)
    noisy = np.where(random.random((raters, units)) < 0.6, truth, random.integers(0, grades, (raters, units)))
    return np.where(random.random((raters, units)) < given, noisy, np.nan)


def long(table: Matrix) -> tuple[np.ndarray, np.ndarray]:
    _, unit = np.nonzero(~np.isnan(table))
    return unit, table[~np.isnan(table)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_equals_krippendorff(level: str, seed: int) -> None:
    table = matrix(seed)
    alpha = krippendorff_alpha(*long(table), level)
    assert alpha.value == pytest.approx(krippendorff.alpha(table, level_of_measurement=level), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_kappa_equals_scikit_learn(weights: str, seed: int) -> None:
    a, b = matrix(seed, raters=2, given=1.0)
    theirs = cohen_kappa_score(a, b, labels=range(6), weights=None if weights == "unweighted" else weights)
    assert cohen_kappa(a, b, weights, values=range(6)).value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_of_equal_ratings_is_fleiss_corrected_for_size(seed: int) -> None:
    unit, grade = long(matrix(seed, given=1.0))
    fleiss = fleiss_kappa(unit, grade).value
    alpha = krippendorff_alpha(unit, grade, "nominal").value
    assert fleiss is not None
    assert alpha == pytest.approx(1 - (1 - fleiss) * (len(grade) - 1) / len(grade), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_rows_changes_nothing(seed: int) -> None:
    unit, grade = long(matrix(seed))
    mixed = np.random.default_rng(seed).permutation(len(unit))
    for compute in (krippendorff_alpha, gwet_ac):
        assert compute(unit, grade).value == pytest.approx(compute(unit[mixed], grade[mixed]).value, abs=1e-12)


def test_single_grades_change_alpha_not_at_all_and_ac1_a_little() -> None:
    unit, grade = long(matrix(1))
    more_units, more_grades = np.append(unit, [900, 901]), np.append(grade, [3, 3])
    assert krippendorff_alpha(unit, grade).value == krippendorff_alpha(more_units, more_grades).value
    assert gwet_ac(unit, grade).value != gwet_ac(more_units, more_grades).value


def test_an_unused_value_changes_ac1_but_not_alpha() -> None:
    unit, grade = long(matrix(2))
    whole_scale = krippendorff_alpha(unit, grade, values=range(6)).value
    assert krippendorff_alpha(unit, grade).value == pytest.approx(whole_scale, abs=1e-12)
    assert gwet_ac(unit, grade).value != gwet_ac(unit, grade, values=range(6)).value


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_kappa_equals_statsmodels(weights: str, seed: int) -> None:
    a, b = matrix(seed, raters=2, given=1.0)
    cells = np.zeros((4, 4))
    np.add.at(cells, (a.astype(int), b.astype(int)), 1)
    theirs = inter_rater.cohens_kappa(cells, wt=None if weights == "unweighted" else weights, return_results=False)
    assert cohen_kappa(a, b, weights, values=range(4)).value == pytest.approx(float(theirs), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_equals_statsmodels(seed: int) -> None:
    table = matrix(seed, given=1.0)
    counts, _ = inter_rater.aggregate_raters(table.T.astype(int), n_cat=4)
    assert fleiss_kappa(*long(table)).value == pytest.approx(float(inter_rater.fleiss_kappa(counts)), abs=1e-9)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_many_raters_on_a_long_scale_equals_krippendorff(level: str) -> None:
    """So many grades a pair that counts of a pair are no longer one number."""
    table = matrix(3, raters=40, units=60, grades=12, given=0.7)
    theirs = krippendorff.alpha(table, level_of_measurement=level)
    assert krippendorff_alpha(*long(table), level).value == pytest.approx(theirs, abs=1e-9)


def test_each_draw_is_the_alpha_of_the_drawn_queries() -> None:
    """The interval, from the sums of patterns, is that of the grades themselves written out draw by draw."""
    table, queries = matrix(4, units=60), np.arange(60) // 5
    unit, grade = long(table)
    alpha = krippendorff_alpha(unit, grade, clusters=queries[unit], resamples=50, seed=7)
    theirs = []
    for drawn in np.concatenate(list(draws(12, 50, seed=7))):
        units = np.repeat(np.arange(60), drawn[queries].astype(int))
        theirs.append(krippendorff.alpha(table[:, units], level_of_measurement="ordinal"))
    assert [alpha.low, alpha.high] == pytest.approx(np.quantile(theirs, [0.025, 0.975]).tolist(), abs=1e-9)


def graded(table: Matrix, units_a_query: int) -> GradeTable:
    """The matrix as the table that a report takes, units in order, so many to a query."""
    unit, rater = np.nonzero(~np.isnan(table.T))
    query = np.arange(table.shape[1]) // units_a_query
    names = tuple(f"q{code:02}" for code in range(int(query.max()) + 1))
    raters = tuple(f"r{code:02}" for code in range(len(table)))
    return GradeTable(raters, names, unit, rater, table.T[unit, rater].astype(int), query)


def test_rows_and_means_of_two_raters_are_kappas() -> None:
    table = matrix(2, units=200, given=0.5)
    report = agreement_report(graded(table, 10), range(4), bootstrap=100)
    expected = []
    for row in report.cohen:
        a, b = table[int(row.a[1:])], table[int(row.b[1:])]
        both = ~np.isnan(a) & ~np.isnan(b)
        theirs = cohen_kappa_score(a[both], b[both], labels=range(4), weights="quadratic")
        assert (row.n, row.quadratic.value) == (both.sum(), pytest.approx(theirs, abs=1e-9))
        assert row.quadratic.low < row.quadratic.value < row.quadratic.high  # type: ignore[operator]
        expected.append((row.n, theirs))
    mean = report.coefficients["cohen-quadratic"]
    weighed = sum(n * kappa for n, kappa in expected) / sum(n for n, _ in expected)
    assert (len(expected), mean.value) == (10, pytest.approx(weighed, abs=1e-9))
    widest = max(row.quadratic.high - row.quadratic.low for row in report.cohen)  # type: ignore[operator]
    assert 0 < mean.high - mean.low < widest  # type: ignore[operator]


def test_the_agreement_on_one_grade_is_that_of_the_grade_against_the_rest() -> None:
    table = matrix(5, units=120)
    report = agreement_report(graded(table, 10), range(4), bootstrap=100)
    for row in report.grades:
        either = np.where(np.isnan(table), np.nan, table == row.grade)
        theirs = krippendorff.alpha(either, level_of_measurement="nominal")
        assert row.one_or_other.value == pytest.approx(theirs, abs=1e-9)
        either_given = [column[~np.isnan(column)] == row.grade for column in table.T]
        others_given = [list(np.delete(one, place)) for one in either_given for place in np.flatnonzero(one)]
        too = [bool(other) for others in others_given for other in others]
        assert row.specific.value == pytest.approx(sum(too) / len(too), abs=1e-12)
        assert row.specific.low < row.specific.value < row.specific.high  # type: ignore[operator]


def test_parts_of_the_queries_are_computed_as_the_whole_is() -> None:
    table = matrix(6, units=90)
    whole = graded(table, 6)
    for row in by_query(whole, range(4)):
        columns = table[:, int(row.name[1:]) * 6 :][:, :6]
        assert row.ordinal.value == krippendorff_alpha(*long(columns)).value
    head, tail = by_tier(whole, ["head"] * 5 + ["tail"] * 10, range(4), resamples=100, seed=3)
    for row, columns in ((head, table[:, :30]), (tail, table[:, 30:])):
        unit, grade = long(columns)
        alone = krippendorff_alpha(unit, grade, clusters=unit // 6, resamples=100, seed=3)
        assert row.ordinal == alone
    assert (head.queries, tail.queries) == (5, 10)


def test_grade_against_grade_counts_every_two_raters_once() -> None:
    report = agreement_report(graded(np.array([[0.0, 1, 2], [0, 2, 2], [np.nan, 1, 0]]), 3), range(3), bootstrap=0)
    assert report.confusion == [[1, 0, 2], [0, 1, 2], [0, 0, 1]]
