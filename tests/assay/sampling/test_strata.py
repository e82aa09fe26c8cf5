"""Tests of successive strata: unbiased estimates of the whole traffic, with queries in two strata."""

from __future__ import annotations

import numpy as np
import pytest

from assay.metrics.metric import hajek_mean
from assay.sampling.draw import Sample, draw_pps, draw_stratified
from assay.sampling.query_table import LogQuery
from assay.sampling.stratum_joining import Filter, in_frame, without
from assay.sampling.tiers import TierCut, cut_tiers
from assay.scoring.results import DrawnQuery, SamplingDesign

DRAWS = 300
SIZES = {"head": 10, "torso": 15, "tail": 25}


def frame(counts: dict[str, int]) -> TierCut:
    return cut_tiers([LogQuery(text, text, count, None, 1, at) for at, (text, count) in enumerate(counts.items())])


def traffic_mean(cut: TierCut, values: dict[str, float]) -> float:
    return sum(query.frequency * values[query.query] for query in cut.queries) / cut.traffic


def design(
    first: Sample, second: Sample, share: float, held: dict[str, tuple[LogQuery, str]], whole: float
) -> SamplingDesign:
    """The same tables as a snapshot's queries file gives: queries that were held stand for the second stratum alone."""
    own = {one.query.query: ("first", one.weight, one.probability, one.tier) for one in first.queries}
    own |= {text: ("shoes", query.frequency / whole, 1.0, tier) for text, (query, tier) in held.items()}
    also = []
    for one in second.queries:
        if one.query.query in own:
            also.append(DrawnQuery(one.query.query, "shoes", one.tier, one.weight, one.probability))
        else:
            own[one.query.query] = ("shoes", one.weight, one.probability, one.tier)
    return SamplingDesign(
        weights={text: expected[1] for text, expected in own.items()},
        probabilities={text: expected[2] for text, expected in own.items()},
        tiers={text: expected[3] for text, expected in own.items()},
        strata={text: expected[0] for text, expected in own.items()},
        shares={"first": 1 - share, "shoes": share},
        also=also,
    )


@pytest.mark.parametrize("carved", [True, False], ids=["a part of the old traffic", "new traffic with shared texts"])
def test_the_estimate_is_right_on_average(carved: bool) -> None:
    random = np.random.default_rng(11)
    counts = np.maximum(1, 5_000 // np.arange(1, 401))
    texts = [f"shoes {at}" if at % 4 == 1 else f"tent {at}" for at in range(400)]
    # Shoes are what the systems are bad at: whoever leaves them out, or counts them twice, is far off.
    values = {text: float(random.beta(1, 4) if "shoes" in text else random.beta(4, 1.5)) for text in texts}
    old = frame(dict(zip(texts, counts.tolist(), strict=True)))
    if carved:
        new = cut_tiers(Filter(words=("shoes",)).of(old.queries))
        share, truth = new.traffic / old.traffic, traffic_mean(old, values)
    else:
        # Another market asks half of the same queries, how often has nothing to do with the first.
        new = frame({text: int(random.integers(1, 900)) for text in texts[::2]})
        share = 0.4
        truth = (1 - share) * traffic_mean(old, values) + share * traffic_mean(new, values)
    result, shared = [], 0
    for seed in range(DRAWS):
        first = draw_stratified(old, SIZES, seed)
        held = in_frame(new, {one.query.query: one for one in first.queries}) if carved else {}
        second = draw_pps(without(new, held), 30, seed + 1_000_000)
        summary = design(first, second, share, held, new.traffic)
        shared += len(summary.also) + len(held)
        ids = list(summary.strata)
        weights = summary.weights_of(ids)
        assert weights is not None
        result.append(hajek_mean([values[text] for text in ids], weights))
    assert shared > DRAWS
    error = np.std(result) / np.sqrt(DRAWS)
    assert abs(np.mean(result) - truth) < max(0.005, 3 * error)
    assert error < 0.004  # or the test could not see a bias
