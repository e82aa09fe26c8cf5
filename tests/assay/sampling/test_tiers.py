"""Tests of tiers: cuts of the cumulative traffic curve."""

from __future__ import annotations

import polars
import pytest

from assay.core.errors import NotValid
from assay.sampling.query_table import LogQuery, QueryTable
from assay.sampling.row_counting import count_log
from assay.sampling.tiers import TierCut, cut_tiers
from tests.assay.sampling.log_rows import counted


def cut(*frequencies: int, **cuts: float) -> TierCut:
    return cut_tiers(count_log(counted({f"q{place:06}": n for place, n in enumerate(frequencies)})).queries, **cuts)


def test_a_query_belongs_where_the_traffic_above_it_ends() -> None:
    assert cut(5, 3, 1, 1).tier == ("head", "torso", "tail", "tail")


def test_the_most_frequent_query_is_always_head() -> None:
    assert cut(99, 1).tier == ("head", "tail")


def test_a_share_that_falls_on_the_line_is_compared_exactly() -> None:
    tier = cut(*[1] * 100, head_share=0.55, torso_share=0.57).tier
    assert (tier.count("head"), tier.count("torso")) == (55, 2)


def test_tiers_add_up() -> None:
    result = cut(*range(1, 200))
    assert sum(tier.queries for tier in result.tiers) == 199
    assert sum(tier.share or 0 for tier in result.tiers) == pytest.approx(1)
    assert [tier.name for tier in result.tiers] == ["head", "torso", "tail"]


def test_an_empty_log_has_no_curve_and_no_shares() -> None:
    result = cut()
    assert result.curve == ()
    assert [tier.share for tier in result.tiers] == [None, None, None]


@pytest.mark.parametrize("size", [1, 2, 3, 150, 5000])
def test_the_curve_is_short_rises_and_ends_at_one(size: int) -> None:
    result = cut(*[1 + 3000 // rank for rank in range(1, size + 1)])
    ranks, shares = zip(*result.curve, strict=True)
    assert len(result.curve) <= 200
    assert list(ranks) == sorted(set(ranks))
    assert list(shares) == sorted(shares)
    assert (result.curve[0], result.curve[-1]) == ((0, 0.0), (size, 1.0))
    assert result.tiers[0].queries in ranks


@pytest.mark.parametrize("shares", [(0, 0.8), (0.9, 0.8), (0.5, 1.1)])
def test_shares_out_of_order_are_refused(shares: tuple[float, float]) -> None:
    with pytest.raises(NotValid, match="head share"):
        cut(1, head_share=shares[0], torso_share=shares[1])


def test_ranks_cut_where_they_say_whatever_the_traffic() -> None:
    result = cut(*range(1, 101), head_ranks=5, torso_ranks=50)
    assert [tier.queries for tier in result.tiers] == [5, 45, 50]
    # The five most frequent of 1 to 100 hold 490 of 5,050 searches, the first fifty 3,775.
    assert (result.head_share, result.torso_share) == (490 / 5050, 3775 / 5050)
    assert {(5, 490 / 5050), (50, 3775 / 5050)} <= set(result.curve)
    short = cut(3, 2, 1, head_ranks=2, torso_ranks=5000)
    assert [tier.queries for tier in short.tiers] == [2, 1, 0]


@pytest.mark.parametrize(
    ("ranks", "field"),
    [
        ({"head_ranks": 500}, "torso_ranks"),
        ({"torso_ranks": 500}, "head_ranks"),
        ({"head_ranks": 0, "torso_ranks": 5}, "head_ranks"),
        ({"head_ranks": 6, "torso_ranks": 5}, "head_ranks"),
    ],
)
def test_ranks_out_of_order_or_alone_are_refused(ranks: dict[str, int], field: str) -> None:
    with pytest.raises(NotValid) as caught:
        cut(1, **ranks)
    assert list(caught.value.fields) == [field]


def test_a_table_is_cut_as_the_queries_themselves() -> None:
    queries = [LogQuery(f"é{n % 7}{n}", "x", n % 5 + 1, None, 1, n) for n in range(60)]
    columns = {name: [getattr(query, name) for query in queries] for name in QueryTable.COLUMNS}
    mine, theirs = cut_tiers(queries), cut_tiers(QueryTable(polars.DataFrame(columns)))
    assert tuple(theirs.queries) == mine.queries
    assert (theirs.tier, theirs.tiers, theirs.curve) == (mine.tier, mine.tiers, mine.curve)
    assert [query.raw for query in theirs.queries[3:9]] == [query.raw for query in mine.queries[3:9]]
