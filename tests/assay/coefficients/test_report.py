"""Tests of the agreement report: values or reasons, intervals, seeds and warnings about raters."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from assay.coefficients import (
    COEFFICIENTS,
    REASONS,
    agreement_report,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from assay.core import Ratings
from assay.core.errors import NotValid

R01, R02 = [3, 1, 0, 2, 0], [3, 1, 1, 2, 0]


def ratings(*columns: list[int | None], queries: int = 1) -> Ratings:
    """One column for each rater, None where there is no grade; units spread over the queries."""
    return Ratings.from_rows(
        (f"q{unit % queries}", f"d{unit:04}", f"r{rater:02}", grade)
        for rater, column in enumerate(columns, 1)
        for unit, grade in enumerate(column)
        if grade is not None
    )


def drawn(raters: int, units: int, seed: int = 0) -> list[list[int | None]]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, units)
    return [np.where(random.random(units) < 0.6, truth, random.integers(0, 4, units)).tolist() for _ in range(raters)]


def test_the_worked_example() -> None:
    report = agreement_report(ratings(R01, R02))
    row = report.cohen[0]
    assert (row.a, row.b, row.n) == ("r01", "r02", 5)
    assert row.unweighted.value == pytest.approx(0.7368, abs=5e-5)
    assert row.quadratic.value == pytest.approx(0.9180, abs=5e-5)
    assert report.ordinal.value == pytest.approx(0.8955, abs=5e-5)
    assert (report.raters, report.pairs, report.overlap) == (2, 5, 5)


def test_the_interval_of_five_pairs_is_wide() -> None:
    ordinal = agreement_report(ratings(R01, R02)).ordinal
    assert ordinal.low is not None
    assert ordinal.high is not None
    assert ordinal.high - ordinal.low > 0.3


def test_the_json_shape() -> None:
    content = json.loads(json.dumps(agreement_report(ratings(R01, R02), bootstrap=100).as_json(), allow_nan=False))
    leaf = {"value", "low", "high", "n", "reason"}
    assert set(content) >= {"raters", "pairs", "overlap", "alpha", "fleiss", "gwet", "cohen", "warnings"}
    assert set(content["alpha"]) == {"nominal", "ordinal", "interval", "ratio"}
    for one in (*content["alpha"].values(), content["fleiss"], content["gwet"]["ac1"], content["gwet"]["ac2"]):
        assert set(one) == leaf
    assert set(content["cohen"][0]) >= {"a", "b", "n", "unweighted", "linear", "quadratic"}


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ([[], []], "no_overlap"),
        ([[0, 1, 2]], "no_overlap"),
        ([[0, None], [None, 1]], "no_overlap"),
        ([[2, 2, 2], [2, 2, 2]], "one_category"),
        ([[2, 1], [3, None]], "too_few_units"),
    ],
)
def test_undefined_is_none_with_a_reason(columns: list[list[int | None]], reason: str) -> None:
    report = agreement_report(ratings(*columns), bootstrap=20)
    for name in ("alpha-nominal", "alpha-ordinal", "alpha-interval", "fleiss", "ac1", "ac2"):
        agreement = report.coefficients[name]
        assert (agreement.value, agreement.reason, agreement.low) == (None, reason, None)
    assert all(row.unweighted.reason in REASONS for row in report.cohen)


def test_perfect_and_varied_is_one() -> None:
    report = agreement_report(ratings([0, 3, 1], [0, 3, 1]))
    assert report.ordinal.value == report.coefficients["fleiss"].value == report.cohen[0].quadratic.value == 1.0


def test_a_constant_rater_beside_a_varied_one_is_a_number() -> None:
    report = agreement_report(ratings([1, 1, 1, 1], [0, 1, 2, 3]), bootstrap=0)
    assert report.cohen[0].unweighted.value == 0.0
    assert report.coefficients["alpha-nominal"].reason is None


def test_unequal_numbers_of_grades_leave_fleiss_undefined() -> None:
    report = agreement_report(ratings([0, 1, 2], [0, 1, 2], [0, None, None]), bootstrap=0)
    fleiss = report.coefficients["fleiss"]
    assert (fleiss.value, fleiss.reason) == (None, "unequal_ratings")
    assert report.ordinal.value == 1.0


def test_every_two_raters_get_a_row_over_what_they_share() -> None:
    report = agreement_report(ratings([0, 1, None, 3], [0, 1, 2, None], [None, 1, 2, 3]), bootstrap=0)
    assert [(row.a, row.b, row.n) for row in report.cohen] == [("r01", "r02", 2), ("r01", "r03", 2), ("r02", "r03", 2)]


def test_the_rows_are_cohen_kappas() -> None:
    columns = drawn(3, 60)
    report = agreement_report(ratings(*columns, queries=6), bootstrap=0)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for row, (a, b) in zip(report.cohen, pairs, strict=True):
        expected = cohen_kappa(columns[a], columns[b], "linear", values=range(4)).value
        assert row.linear.value == pytest.approx(expected, abs=1e-12)


def test_intervals_are_seeded_and_bracket_the_value() -> None:
    table = ratings(*drawn(3, 120), queries=12)
    first, again, other = (agreement_report(table, seed=seed) for seed in (1, 1, 2))
    assert first.as_json() == again.as_json()
    assert first.ordinal.low != other.ordinal.low
    for agreement in (first.ordinal, *map(first.coefficients.get, ("ac2", "fleiss")), first.cohen[0].quadratic):
        assert agreement.low is not None
        assert agreement.high is not None
        assert agreement.value is not None
        assert agreement.low < agreement.value < agreement.high


def test_clusters_widen_the_interval() -> None:
    """Within a query all pairs go one way: drawn as single pairs they would look like far more evidence."""
    unit, query = np.tile(np.arange(200), 2), np.tile(np.arange(200) // 40, 2)
    first = np.arange(200) % 2
    second = np.where(np.arange(200) // 40 % 2 == 0, first, 1 - first)
    grades = np.concatenate([first, second])
    by_pair = krippendorff_alpha(unit, grades, resamples=400)
    by_query = krippendorff_alpha(unit, grades, clusters=query, resamples=400)
    assert by_query.value == by_pair.value
    assert by_query.high - by_query.low > 2 * (by_pair.high - by_pair.low)  # type: ignore[operator]


def test_undefined_resamples_are_counted() -> None:
    kappa = cohen_kappa([0, 0, 0, 1], [0, 0, 0, 1], resamples=200)
    assert 0 < kappa.undefined_resamples < 200
    assert kappa.high == 1.0


def test_copied_raters_are_named() -> None:
    first, second, third = drawn(3, 100)
    report = agreement_report(ratings(first, second, third, list(first)), bootstrap=0)
    assert [w.raters for w in report.warnings if w.code == "copied_raters"] == [("r01", "r04")]


def test_honest_raters_are_not() -> None:
    report = agreement_report(ratings(*drawn(5, 200)), bootstrap=0)
    assert not [w for w in report.warnings if w.code == "copied_raters"]


@pytest.mark.shared
def test_small_differences_over_thousands_of_pairs_name_no_rater() -> None:
    """Three paid raters of a shop: two of them agree on 82 % of 3,188 pairs, where 78 % is usual."""
    path = Path(__file__).resolve().parents[4] / "shared" / "data" / "demo-electronics" / "judgments.csv"
    if not path.exists():
        pytest.skip("../shared/data is not here")
    with path.open(newline="") as file:
        rows = [(row["query_id"], row["doc_id"], row["rater"], int(row["grade"])) for row in csv.DictReader(file)]
    report = agreement_report(Ratings.from_rows(rows), (0, 1, 2, 3), bootstrap=0)
    assert [warning.code for warning in report.warnings] == []


def test_one_category_raters_are_named() -> None:
    report = agreement_report(ratings(*drawn(2, 30), [2] * 30), bootstrap=0)
    assert [w.raters for w in report.warnings if w.code == "one_category_rater"] == [("r03",)]


def test_little_overlap_decides_nothing() -> None:
    assert "not_enough_overlap" in {w.code for w in agreement_report(ratings(R01, R02), bootstrap=0).warnings}
    assert not agreement_report(ratings(*drawn(2, 300), queries=40), bootstrap=0).warnings


def test_a_grade_off_the_scale_is_refused() -> None:
    with pytest.raises(NotValid, match="the grade 4 is not on the scale 0, 1, 2, 3"):
        agreement_report(ratings([4, 1], [1, 1]))


@pytest.mark.parametrize("call", [krippendorff_alpha, cohen_kappa, gwet_ac])
def test_an_unknown_level_or_weight_is_refused(call: object) -> None:
    with pytest.raises(NotValid, match=r"ordinal|quadratic"):
        call([1, 2], [1, 2], "cubic")  # type: ignore[operator]


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(NotValid, match="same length"):
        cohen_kappa([1, 2], [1])


@pytest.mark.parametrize("name", list(COEFFICIENTS))
def test_every_member_tells_what_it_is(name: str) -> None:
    member = COEFFICIENTS[name]
    assert member.name == name
    assert all((member.title, member.description, member.formula, member.source))


def test_fleiss_takes_no_single_grades() -> None:
    assert fleiss_kappa([1, 1, 2, 2, 3], [0, 0, 1, 1, 5]).n == 2


def test_two_raters_who_rightly_call_nearly_everything_the_same_are_not_named() -> None:
    random = np.random.default_rng(3)
    first = np.where(random.random(200) < 0.96, 0, 2)
    second = np.where(random.random(200) < 0.97, first, 2 - first)
    report = agreement_report(ratings(first.tolist(), second.tolist(), queries=40), bootstrap=0)
    assert report.percent_agreement is not None
    assert report.percent_agreement > 0.95
    assert not [warning for warning in report.warnings if warning.code == "copied_raters"]
