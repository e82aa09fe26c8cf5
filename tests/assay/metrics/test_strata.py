"""Tests of means over successive strata: equal to the mean over the whole traffic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.metrics.metric import hajek_mean
from assay.scoring.results import DrawnQuery, SamplingDesign, summarize, summarize_tiers
from assay.significance.compare import compare

# Two strata of 70 % and 30 %: a and b stand for the first (w/p = 0.6 and 0.4 / 0.5), c for the second, b for both.
DESIGN = SamplingDesign(
    weights={"a": 0.6, "b": 0.4, "c": 0.5},
    probabilities={"a": 1.0, "b": 0.5, "c": 0.5},
    tiers={"a": "head", "b": "tail", "c": "head"},
    by_tier=True,
    strata={"a": "first", "b": "first", "c": "shoes"},
    shares={"first": 0.7, "shoes": 0.3},
    also=[DrawnQuery("b", "shoes", "head", 0.5, 1.0)],
)
IDS = ["c", "a", "b"]
VALUES = {"a": 0.2, "b": 0.8, "c": 0.5}
# By hand: first = (0.6 * 0.2 + 0.8 * 0.8) / 1.4, shoes = (1.0 * 0.5 + 0.5 * 0.8) / 1.5.
FIRST, SHOES = 0.76 / 1.4, 0.9 / 1.5


def test_the_mean_over_strata_is_worked_by_hand() -> None:
    (result,) = summarize(np.array([[VALUES[one]] for one in IDS]), ["arithmetic"], IDS, design=DESIGN)
    assert result.weighted == pytest.approx(0.7 * FIRST + 0.3 * SHOES)
    weights = DESIGN.weights_of(IDS)
    assert weights is not None
    assert sum(weights) == pytest.approx(1.0)
    assert hajek_mean([VALUES[one] for one in IDS], weights) == pytest.approx(0.7 * FIRST + 0.3 * SHOES)


def test_tiers_are_nested_in_strata() -> None:
    result = summarize_tiers(np.array([[VALUES[one]] for one in IDS]), ["arithmetic"], IDS, design=DESIGN)
    assert list(result) == ["head", "tail", "stratum first", "stratum shoes"]
    # Of the first stratum 0.6 / 1.4 is head, and a alone stands for it; of the second all is head.
    head = (0.7 * 0.6 / 1.4 * 0.2 + 0.3 * 0.5) / (0.7 * 0.6 / 1.4 + 0.3)
    assert result["head"][0].weighted == pytest.approx(head)
    assert (result["stratum first"][0].weighted, result["stratum shoes"][0].weighted) == pytest.approx((FIRST, SHOES))


def test_a_stratum_of_which_nothing_counts_leaves_no_mean() -> None:
    column = np.array([[np.nan], [0.2], [0.8]])
    (result,) = summarize(column, ["arithmetic"], IDS, design=replace(DESIGN, also=()))
    assert result.mean == pytest.approx(0.5)
    assert result.weighted is None
    assert "stratum" in (result.weighted_reason or "")


def test_one_stratum_is_the_design_without_strata() -> None:
    rng = np.random.default_rng(3)
    ids = [f"q{at}" for at in range(40)]
    plain = SamplingDesign(
        weights=dict(zip(ids, rng.random(40), strict=True)),
        probabilities=dict(zip(ids, rng.uniform(0.1, 1, 40), strict=True)),
        tiers={one: "head" if at < 15 else "tail" for at, one in enumerate(ids)},
    )
    single = replace(plain, strata=dict.fromkeys(ids, "all"), shares={"all": 0.4})
    values = rng.random((40, 2))
    for method in ("percentile", "t", "bca"):
        facts = {"level": 0.95, "method": method, "resamples": 500, "seed": 2}
        one = summarize(values, ["arithmetic", "geometric"], ids, design=plain, **facts)  # type: ignore[arg-type]
        other = summarize(values, ["arithmetic", "geometric"], ids, design=single, **facts)  # type: ignore[arg-type]
        for a, b in zip(one, other, strict=True):
            assert (b.weighted, b.weighted_low, b.weighted_high) == pytest.approx(
                (a.weighted, a.weighted_low, a.weighted_high)
            )


def test_the_t_interval_of_two_strata_is_the_textbooks() -> None:
    """Equal weights inside: the variance is sum W^2 s^2 / n (Cochran 1977, section 5.3), with n - 2 degrees."""
    from scipy.stats import t

    rng = np.random.default_rng(5)
    a, b = rng.random(12), rng.random(8)
    ids = [f"q{at}" for at in range(20)]
    design = SamplingDesign(
        weights=dict.fromkeys(ids, 0.1),
        probabilities=dict.fromkeys(ids, 0.5),
        strata={one: "a" if at < 12 else "b" for at, one in enumerate(ids)},
        shares={"a": 0.9, "b": 0.1},
    )
    (result,) = summarize(np.concatenate([a, b])[:, None], ["arithmetic"], ids, design=design, level=0.9, method="t")
    mean = 0.9 * a.mean() + 0.1 * b.mean()
    reach = t.ppf(0.95, 18) * np.sqrt(0.81 * a.var(ddof=1) / 12 + 0.01 * b.var(ddof=1) / 8)
    assert (result.weighted, result.weighted_low, result.weighted_high) == pytest.approx(
        (mean, mean - reach, mean + reach)
    )


def test_a_comparison_spreads_each_share_over_what_counts() -> None:
    """By hand: b is answered by one run alone; left are a for the first stratum (0.7) and c for the second (0.3)."""
    qrels = Qrels.from_dict({name: {"d1": 1} for name in "abc"})
    one = Run.from_dict({"a": {"d1": 1}, "b": {"d1": 1}, "c": {"d1": 1}}, "one")
    two = Run.from_dict({"a": {"d1": 1}, "c": {"x": 2, "d1": 1}}, "two")
    comparison = compare(qrels, [one, two], ["RR"], missing="skip", design=replace(DESIGN, also=()))
    assert comparison.runs["two"]["RR"] == pytest.approx(0.7 + 0.3 * 0.5)
    three = Run.from_dict({"a": {"d1": 1}, "b": {"d1": 1}}, "three")
    with pytest.raises(NotValid, match="stratum 'shoes'"):
        compare(qrels, [one, three], ["RR"], missing="skip", design=replace(DESIGN, also=()))


def test_invalid_designs_are_refused() -> None:
    with pytest.raises(NotValid, match="no share"):
        replace(DESIGN, shares={"first": 1.0})
    with pytest.raises(NotValid, match="share 0"):
        replace(DESIGN, shares={"first": 1.0, "shoes": 0.0})
    with pytest.raises(NotValid, match="the query 'b' cannot also be in 'shoes'"):
        replace(DESIGN, also=[DrawnQuery("b", "shoes", "", 0.1, 0.0)])
