"""Tests of human versus machine agreement: kappa, alpha, precision by grade and their intervals."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from assay.coefficients.human_machine import against_people
from assay.core.errors import NotValid

SCALE = (0, 1, 2, 3)
GRADE = st.integers(-1, 5)


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    pairs = [(f"q{number % 7}", f"d{number}") for number in range(draw(st.integers(2, 40)))]
    return {pair: draw(GRADE) for pair in pairs}, {pair: draw(GRADE) for pair in pairs}


@given(two_sides(), st.sampled_from(["leave-out", "clip"]))
def test_kappas_and_alpha_are_those_of_the_libraries(sides: tuple[dict, dict], off_scale: str) -> None:
    people, machine = sides
    calibration = against_people(people, machine, SCALE, off_scale=off_scale, resamples=0)  # type: ignore[arg-type]
    rows = [(people[pair], machine[pair]) for pair in people]
    if off_scale == "clip":
        rows = [(min(max(a, 0), 3), min(max(b, 0), 3)) for a, b in rows]
    else:
        rows = [(a, b) for a, b in rows if a in SCALE and b in SCALE]
    assert calibration.pairs == len(rows)
    assert calibration.off_people == sum(grade not in SCALE for grade in people.values())
    ours, theirs = [a for a, _ in rows], [b for _, b in rows]
    for weights, name in ((None, "unweighted"), ("linear", "linear"), ("quadratic", "quadratic")):
        value = calibration.kappa[name].value
        if value is not None:
            expected = cohen_kappa_score(ours, theirs, weights=weights, labels=list(SCALE))
            assert value == pytest.approx(expected, abs=1e-9)
    for level, agreement in calibration.alpha.items():
        if agreement.value is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = krippendorff.alpha(
                    [ours, theirs], level_of_measurement=level, value_domain=sorted({*ours, *theirs})
                )
            assert agreement.value == pytest.approx(expected, abs=1e-9)


def test_precision_by_grade_by_hand() -> None:
    people = {("q1", "a"): 2, ("q1", "b"): 0, ("q2", "a"): 3, ("q2", "b"): 0, ("q3", "a"): 1}
    machine = {("q1", "a"): 3, ("q1", "b"): 0, ("q2", "a"): 3, ("q2", "b"): 0, ("q3", "a"): 3}
    calibration = against_people(people, machine, SCALE, relevant_from=2, resamples=200, seed=4)
    zero, three = calibration.worth[0], calibration.worth[3]
    assert (zero.same.value, zero.relevant.value, zero.same.n) == (1.0, 0.0, 2)
    assert (three.same.value, three.relevant.value, three.same.n) == (pytest.approx(1 / 3), pytest.approx(2 / 3), 3)
    assert three.same.low is not None
    assert three.same.low <= 1 / 3 <= three.same.high  # type: ignore[operator]
    assert calibration.worth[1].same.value is None
    assert calibration.confusion == [[2, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]]
    assert calibration.bias == pytest.approx((1 + 0 + 0 + 0 + 2) / 5)


def test_a_grade_of_one_query_has_no_interval() -> None:
    people = {("q1", "a"): 1, ("q1", "b"): 0}
    calibration = against_people(people, people, (0, 1))
    assert (calibration.worth[1].same.value, calibration.worth[1].same.low) == (1.0, None)


@pytest.mark.slow
def test_intervals_of_precision_have_their_stated_coverage() -> None:
    # 60 queries of 8 pairs; how right the machine is differs from query to query, 0.7 on average.
    rng = np.random.default_rng(8)
    hits, trials = 0, 200
    for trial in range(trials):
        people: dict[tuple[str, str], float] = {}
        machine: dict[tuple[str, str], float] = {}
        for query in range(60):
            right = rng.beta(3.5, 1.5)
            for doc in range(8):
                machine[f"q{query}", f"d{doc}"] = 1
                people[f"q{query}", f"d{doc}"] = int(rng.random() < right)
        share = against_people(people, machine, (0, 1), resamples=300, seed=trial).worth[1].same
        assert share.low is not None
        assert share.high is not None
        hits += share.low <= 0.7 <= share.high
    assert 0.89 <= hits / trials <= 0.985


def test_nothing_in_common_and_wrong_ways() -> None:
    calibration = against_people({("q", "a"): 1}, {("q", "b"): 1}, SCALE)
    assert (calibration.pairs, calibration.only_people, calibration.only_machine, calibration.bias) == (0, 1, 1, None)
    assert calibration.kappa["linear"].reason == "no_overlap"
    with pytest.raises(NotValid, match="use leave-out or clip"):
        against_people({}, {}, SCALE, off_scale="round")  # type: ignore[arg-type]
