from __future__ import annotations

import pytest

from judgments.core.errors import NotValid
from pooling.sampling.log import count_log
from pooling.sampling.tiers import TierCut, cut_tiers
from tests.pooling.sampling.rows import counted


def cut(*frequencies: int, head_share: float = 0.5, torso_share: float = 0.8) -> TierCut:
    log = count_log(counted({f"q{place:06}": n for place, n in enumerate(frequencies)}))
    return cut_tiers(log.queries, head_share=head_share, torso_share=torso_share)


def test_a_query_belongs_where_the_traffic_above_it_ends() -> None:
    assert cut(5, 3, 1, 1).tier == ("head", "torso", "tail", "tail")


def test_the_most_frequent_query_is_always_head() -> None:
    assert cut(99, 1).tier == ("head", "tail")


def test_a_share_that_falls_on_the_line_is_compared_exactly() -> None:
    tier = cut(*[1] * 100, head_share=0.55, torso_share=0.57).tier
    assert (tier.count("head"), tier.count("torso")) == (55, 2)


def test_tiers_add_up() -> None:
    found = cut(*range(1, 200))
    assert sum(tier.queries for tier in found.tiers) == 199
    assert sum(tier.share or 0 for tier in found.tiers) == pytest.approx(1)
    assert [tier.name for tier in found.tiers] == ["head", "torso", "tail"]


def test_an_empty_log_has_no_curve_and_no_shares() -> None:
    found = cut()
    assert found.curve == ()
    assert [tier.share for tier in found.tiers] == [None, None, None]


@pytest.mark.parametrize("size", [1, 2, 3, 150, 5000])
def test_the_curve_is_short_rises_and_ends_at_one(size: int) -> None:
    found = cut(*[1 + 3000 // rank for rank in range(1, size + 1)])
    ranks, shares = zip(*found.curve, strict=True)
    assert len(found.curve) <= 200
    assert list(ranks) == sorted(set(ranks))
    assert list(shares) == sorted(shares)
    assert (found.curve[0], found.curve[-1]) == ((0, 0.0), (size, 1.0))
    assert found.tiers[0].queries in ranks


@pytest.mark.parametrize("shares", [(0, 0.8), (0.9, 0.8), (0.5, 1.1)])
def test_shares_out_of_order_are_refused(shares: tuple[float, float]) -> None:
    with pytest.raises(NotValid, match="head share"):
        cut(1, head_share=shares[0], torso_share=shares[1])
