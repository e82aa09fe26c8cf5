"""Do the coefficients equal krippendorff's and scikit-learn's on generated grades?"""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from judgments.agreement import cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha

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
    found = krippendorff_alpha(*long(table), level)
    assert found.value == pytest.approx(krippendorff.alpha(table, level_of_measurement=level), abs=1e-9)


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
