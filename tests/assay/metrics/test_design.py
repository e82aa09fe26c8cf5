"""Tests of sampling designs: traffic is counted once and never twice."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.metrics.metric import hajek_mean, mean
from assay.sampling.draw import Sample, draw_pps, draw_stratified
from assay.sampling.query_table import LogQuery
from assay.sampling.tiers import TierCut, cut_tiers
from assay.scoring.results import SamplingDesign, in_proportion


def frame(size: int = 300) -> TierCut:
    """A log with a long tail: the frequency falls as one over the rank."""
    names = [f"query {rank}" for rank in range(1, size + 1)]
    return cut_tiers([LogQuery(name, name, 3000 // rank, None, 1, None) for rank, name in enumerate(names, 1)])


def parts(sample: Sample) -> tuple[dict[str, float], dict[str, float], dict[str, str]]:
    queries = sample.queries
    return (
        {one.query_id: one.weight for one in queries},
        {one.query_id: one.probability for one in queries},
        {one.query_id: one.tier for one in queries},
    )


def quality(text: str) -> float:
    """A metric that falls with the rank of the query: systems answer frequent queries better."""
    return 1 / math.log2(1 + int(text.split()[1]))


def test_a_draw_in_proportion_to_traffic_is_known_by_its_probabilities() -> None:
    weights, probabilities, tiers = parts(draw_pps(frame(), 60, seed=1))
    assert in_proportion(weights, probabilities)
    assert in_proportion(weights, probabilities, tiers)


def test_a_draw_by_tier_is_not_one() -> None:
    weights, probabilities, tiers = parts(draw_stratified(frame(), {"head": 4, "torso": 20, "tail": 30}, seed=1))
    assert not in_proportion(weights, probabilities)
    assert not in_proportion(weights, probabilities, tiers)


@settings(max_examples=50)
@given(st.lists(st.floats(1e-4, 1), min_size=2, max_size=30), st.floats(0.01, 0.99), st.integers(3, 7))
def test_rounding_in_a_file_does_not_hide_the_proportion(shares: list[float], most: float, digits: int) -> None:
    weights = {f"q{n}": share for n, share in enumerate(shares)}
    probabilities = {q: float(f"{most * share / max(shares):.{digits}g}") for q, share in weights.items()}
    differ = max(shares) > 1.01 * min(shares)
    assert in_proportion(weights, probabilities) is differ


def test_weights_alone_are_refused_on_a_sample_in_proportion_to_traffic() -> None:
    weights, probabilities, tiers = parts(draw_pps(frame(), 60, seed=2))
    with pytest.raises(NotValid, match=r"drawn in proportion to their traffic.*count the traffic twice"):
        SamplingDesign(weights=weights, probabilities=probabilities, tiers=tiers, sampled=False)


def test_a_proportion_inside_each_tier_is_refused_as_well() -> None:
    weights = {"h1": 0.4, "h2": 0.2, "t1": 0.02, "t2": 0.01}
    probabilities = {"h1": 0.8, "h2": 0.4, "t1": 0.1, "t2": 0.05}
    tiers = {"h1": "head", "h2": "head", "t1": "tail", "t2": "tail"}
    with pytest.raises(NotValid, match="twice"):
        SamplingDesign(weights=weights, probabilities=probabilities, tiers=tiers, sampled=False)
    assert SamplingDesign(weights=weights, probabilities=probabilities, tiers=tiers).strata_of(["h1", "t1"]) == [
        "head",
        "tail",
    ]


def test_a_bare_weight_is_refused() -> None:
    with pytest.raises(NotValid, match=r"'q2' has a weight but no inclusion probability.*twice.*--design none"):
        SamplingDesign(weights={"q1": 0.5, "q2": 0.1}, probabilities={"q1": 1.0})


def test_nothing_sampled_is_stated_by_the_user() -> None:
    design = SamplingDesign(weights={"q1": 0.5, "q2": 0.1}, sampled=False)
    assert design.weights_of(["q1", "q2"]) == [0.5, 0.1]
    certain = SamplingDesign(weights={"q1": 0.5, "q2": 0.1}, probabilities={"q1": 1.0, "q2": 1.0}, sampled=False)
    assert certain.weights_of(["q1", "q2"]) == [0.5, 0.1]


def test_probabilities_alone_count_every_query_of_the_frame_the_same() -> None:
    design = SamplingDesign(probabilities={"q1": 1.0, "q2": 0.25})
    assert design.weights_of(["q1", "q2"]) == [1.0, 4.0]


def test_no_design_weighs_nothing() -> None:
    assert SamplingDesign().weights_of(["q1"]) is None
    assert SamplingDesign().strata_of(["q1"]) is None


def test_a_query_that_the_design_lacks_is_refused() -> None:
    design = SamplingDesign(weights={"q1": 1.0}, probabilities={"q1": 0.5}, tiers={"q1": "head"})
    with pytest.raises(NotValid, match="'q9' has no weight"):
        design.weights_of(["q1", "q9"])
    with pytest.raises(NotValid, match="'q9' has no tier"):
        design.tiers_of(["q9"])


@pytest.mark.parametrize(
    ("weight", "probability", "message"),
    [(-1.0, 0.5, "weight -1"), (math.nan, 0.5, "weight nan"), (1.0, 0.0, "probability 0"), (1.0, 1.5, "probability 1")],
)
def test_values_out_of_range_are_refused(weight: float, probability: float, message: str) -> None:
    with pytest.raises(NotValid, match=message):
        SamplingDesign(weights={"q1": weight}, probabilities={"q1": probability})


def test_the_tiers_of_a_draw_from_the_whole_log_are_no_strata() -> None:
    cut = frame()
    weights, probabilities, tiers = parts(draw_pps(cut, 60, seed=3))
    assert SamplingDesign(weights=weights, probabilities=probabilities, tiers=tiers).strata_of(list(weights)) is None
    weights, probabilities, tiers = parts(draw_stratified(cut, {"head": 4, "torso": 20, "tail": 30}, seed=3))
    by_tier = SamplingDesign(weights=weights, probabilities=probabilities, tiers=tiers)
    assert by_tier.strata_of(list(weights)) == list(tiers.values())


@pytest.mark.parametrize("method", ["pps", "stratified"])
def test_many_draws_match_the_mean_of_the_traffic_and_weights_alone_do_not(method: str) -> None:
    cut = frame()
    truth = sum(q.frequency * quality(q.text) for q in cut.queries) / sum(q.frequency for q in cut.queries)
    weighted, doubled = [], []
    for seed in range(100):
        sizes = {"head": 8, "torso": 16, "tail": 16}
        draw = draw_pps(cut, 40, seed) if method == "pps" else draw_stratified(cut, sizes, seed)
        weights, probabilities, _ = parts(draw)
        values = [quality(one.query.text) for one in draw.queries]
        ids = list(weights)
        once = SamplingDesign(weights=weights, probabilities=probabilities).weights_of(ids)
        assert once is not None
        weighted.append(hajek_mean(values, once) or 0.0)
        doubled.append(hajek_mean(values, list(weights.values())) or 0.0)
    assert (mean(weighted) or 0.0) == pytest.approx(truth, abs=0.01)
    assert abs((mean(doubled) or 0.0) - truth) > 0.05
