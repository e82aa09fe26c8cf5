"""Tests of traffic estimates: unbiased, with valid coverage."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.sampling.draw import draw_pps, draw_stratified
from assay.sampling.query_table import LogQuery
from assay.sampling.tiers import cut_tiers
from assay.sampling.traffic_estimate import weighted_mean

DRAWS = 300


def test_the_variance_of_a_random_draw_is_the_textbooks() -> None:
    """All samples of 3 of 6: the estimated variance is right on average, finite population correction and all."""
    frame = [0.1, 0.4, 0.4, 0.7, 0.9, 1.0]
    samples = [weighted_mean(chosen, [1] * 3, [0.5] * 3) for chosen in combinations(frame, 3)]
    means = [expected.mean for expected in samples]
    assert np.mean(means) == pytest.approx(np.mean(frame))
    assert np.mean([expected.standard_error**2 for expected in samples]) == pytest.approx(np.var(means))


def test_a_stratum_taken_whole_adds_nothing() -> None:
    estimate = weighted_mean([0.0, 1.0, 0.5, 0.5], [4, 4, 1, 1], [1, 1, 0.5, 0.5], ["head", "head", "tail", "tail"])
    assert estimate.certain == 2
    assert estimate.standard_error == 0.0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 9), st.floats(0.01, 1)), min_size=3, max_size=20), st.data())
def test_order_and_unit_of_the_weights_do_not_matter(
    rows: list[tuple[float, float, float]], data: st.DataObject
) -> None:
    value, weight, probability = map(list, zip(*rows, strict=True))
    estimate = weighted_mean(value, weight, probability)
    shuffled = data.draw(st.permutations(rows))
    again = weighted_mean(*(list(of) for of in zip(*((v, w * 7, p) for v, w, p in shuffled), strict=True)))
    assert again.mean == pytest.approx(estimate.mean)
    assert again.standard_error == pytest.approx(estimate.standard_error, abs=1e-12)
    assert min(value) - 1e-9 <= estimate.mean <= max(value) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("design", ["pps", "stratified"])
def test_bias_and_coverage_over_many_draws(design: str) -> None:
    """The same as benchmarks/sampling.py does with 2,000 draws; the bounds here allow for fewer."""
    random = np.random.default_rng(5)
    counts = np.maximum(1, 20_000 // np.arange(1, 801))
    values = random.beta(1 + 3 * np.log(counts) / np.log(20_000), 1.5)
    cut = cut_tiers([LogQuery(f"q{at:03}", "", int(count), None, 1, at) for at, count in enumerate(counts)])
    truth = float(counts @ values / counts.sum())
    means, held = [], 0
    for seed in range(DRAWS):
        by_tier = {"head": 30, "torso": 50, "tail": 40}
        sample = draw_pps(cut, 120, seed) if design == "pps" else draw_stratified(cut, by_tier, seed)
        estimate = weighted_mean(
            [float(values[int(str(drawn.query.raw))]) for drawn in sample.queries],
            [drawn.weight for drawn in sample.queries],
            [drawn.probability for drawn in sample.queries],
            None if design == "pps" else [drawn.tier for drawn in sample.queries],
        )
        means.append(estimate.mean)
        held += estimate.low <= truth <= estimate.high
    assert abs(np.mean(means) - truth) < 0.005
    # Within three binomial standard errors of 95 %.
    assert 0.912 < held / DRAWS < 0.988


def test_undefined_estimates_have_a_reason() -> None:
    alone = weighted_mean([0.5, 0.1, 0.2], [1, 1, 1], [0.5, 0.5, 0.5], ["head", "tail", "tail"])
    assert (alone.low, alone.high) == (None, None)
    assert alone.reason is not None
    assert "only one query" in alone.reason
    assert weighted_mean([], [], []).mean is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1], [0.5, 0.5]), "numbers of values, weights, probabilities and strata differ"),
        (([1.0], [-1], [0.5]), "below 0"),
        (([float("nan")], [1], [0.5]), "not a number"),
        (([1.0], [1], [0.0]), "probability"),
    ],
)
def test_nonsense_is_refused(arguments: tuple[list[float], list[float], list[float]], message: str) -> None:
    with pytest.raises(NotValid, match=message):
        weighted_mean(*arguments)
