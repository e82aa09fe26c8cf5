"""Tests of drawing queries: sizes, probabilities and seeds."""

from __future__ import annotations

import random
from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.sampling.draw import Sample, draw_pps, draw_stratified, inclusion_probabilities
from assay.sampling.row_counting import count_log
from assay.sampling.tiers import TierCut, cut_tiers
from tests.assay.sampling.log_rows import counted

SIZES = {"head": 5, "torso": 10, "tail": 20}


def zipf(queries: int, searches: int = 2000) -> TierCut:
    return cut_tiers(
        count_log(counted({f"q{rank:05}": 1 + searches // rank for rank in range(1, queries + 1)})).queries
    )


def metric_of(cut: TierCut) -> dict[str, float]:
    """A made-up metric that falls with the rank, so that a wrong weighting shows."""
    noise = random.Random(7)
    return {query.query: 0.9 / (1 + place / 50) + 0.1 * noise.random() for place, query in enumerate(cut.queries)}


def hajek(sample: Sample, metric: dict[str, float]) -> float:
    parts = [(query.weight / query.probability, metric[query.query.query]) for query in sample.queries]
    return fsum(part * value for part, value in parts) / fsum(part for part, _ in parts)


def traffic_mean(cut: TierCut, metric: dict[str, float]) -> float:
    return fsum(query.frequency * metric[query.query] for query in cut.queries) / cut.traffic


def test_a_stratified_draw_has_the_sizes_requested() -> None:
    sample = draw_stratified(zipf(500), SIZES, seed=1)
    assert sample.drawn == SIZES
    assert len({query.query.query for query in sample.queries}) == 35
    for query in sample.queries:
        assert query.probability == SIZES[query.tier] / sample.frame[query.tier]


def test_a_tier_that_is_too_small_is_taken_whole() -> None:
    cut = zipf(30)
    sample = draw_stratified(cut, {"head": 1000}, seed=1)
    assert sample.drawn["head"] == cut.tier.count("head") < sample.requested["head"]
    assert {query.probability for query in sample.queries} == {1.0}


def test_ids_are_counted_from_the_most_frequent() -> None:
    sample = draw_stratified(zipf(500), SIZES, seed=1)
    assert [query.query_id.rpartition("-")[2] for query in sample.queries][:2] == ["001", "002"]
    other = draw_stratified(zipf(500), SIZES, seed=2)
    assert not {query.query_id for query in sample.queries} & {query.query_id for query in other.queries}
    frequencies = [query.query.frequency for query in sample.queries]
    assert frequencies == sorted(frequencies, reverse=True)


def test_the_seed_decides() -> None:
    cut = zipf(500)
    assert draw_stratified(cut, SIZES, 1) == draw_stratified(cut, SIZES, 1)
    assert draw_stratified(cut, SIZES, 1) != draw_stratified(cut, SIZES, 2)
    assert draw_pps(cut, 30, 1) == draw_pps(cut, 30, 1)
    assert draw_pps(cut, 30, 1) != draw_pps(cut, 30, 2)


def test_a_larger_tail_leaves_the_head_as_it_was() -> None:
    small, large = (draw_stratified(zipf(500), {**SIZES, "tail": size}, 3) for size in (5, 50))
    assert [q.query for q in small.queries if q.tier == "head"] == [q.query for q in large.queries if q.tier == "head"]


@pytest.mark.parametrize("sizes", [{"middle": 3}, {"head": -1}, {"head": 0}, {}])
def test_impossible_sizes_are_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(NotValid):
        draw_stratified(zipf(10), sizes, seed=1)
    with pytest.raises(NotValid):
        draw_pps(zipf(10), 0, seed=1)


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=60), st.integers(1, 70))
def test_inclusion_probabilities_add_up_to_the_size(sizes: list[int], n: int) -> None:
    probability = inclusion_probabilities(sizes, n)
    assert fsum(probability) == pytest.approx(min(n, len(sizes)))
    assert all(0 < p <= 1 for p in probability)


@settings(max_examples=50)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(1, 50), st.integers(0, 9))
def test_pps_draws_exactly_n_and_no_query_twice(frequencies: list[int], n: int, seed: int) -> None:
    cut = cut_tiers(count_log(counted({f"q{place}": value for place, value in enumerate(frequencies)})).queries)
    sample = draw_pps(cut, n, seed)
    assert len(sample.queries) == len({query.query for query in sample.queries}) == min(n, len(frequencies))
    assert sum(sample.drawn.values()) == len(sample.queries)


def test_pps_draws_each_query_as_often_as_its_probability_says() -> None:
    cut = zipf(40, searches=100)
    draws = [draw_pps(cut, 10, seed) for seed in range(2000)]
    expected = dict(zip(cut.queries, inclusion_probabilities([q.frequency for q in cut.queries], 10), strict=True))
    for query, probability in expected.items():
        seen = sum(any(drawn.query == query for drawn in sample.queries) for sample in draws) / len(draws)
        assert seen == pytest.approx(probability, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["stratified", "pps"])
def test_the_weighted_mean_is_unbiased(method: str) -> None:
    cut = zipf(2000)
    metric = metric_of(cut)
    sizes = {"head": 30, "torso": 120, "tail": 80}
    samples = [draw_pps(cut, 100, s) if method == "pps" else draw_stratified(cut, sizes, s) for s in range(300)]
    means = [hajek(sample, metric) for sample in samples]
    assert fsum(means) / len(means) == pytest.approx(traffic_mean(cut, metric), abs=0.004)


def test_the_plain_mean_of_a_stratified_sample_is_biased() -> None:
    cut = zipf(2000)
    metric = metric_of(cut)
    samples = [draw_stratified(cut, {"head": 15, "torso": 40, "tail": 45}, seed) for seed in range(50)]
    plain = [fsum(metric[query.query.query] for query in sample.queries) / 100 for sample in samples]
    assert abs(fsum(plain) / 50 - traffic_mean(cut, metric)) > 0.1


def test_effective_size() -> None:
    pps = draw_pps(cut_tiers(count_log(counted({f"q{n}": 3 for n in range(50)})).queries), 20, 1)
    assert pps.effective_size == pytest.approx(20)
    stratified = draw_stratified(zipf(2000), SIZES, 1)
    assert 1 < (stratified.effective_size or 0) < 35
