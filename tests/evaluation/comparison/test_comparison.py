"""Tests of comparisons: shared queries, families, tiers, traffic, and no withheld queries."""

from __future__ import annotations

import math

import pytest

from assay.core.errors import NotAllowed, NotValid
from evaluation.comparison.comparison import OUTCOMES, Difference, compare
from evaluation.comparison.views import runs
from evaluation.comparison.views.runs import by_tier, by_traffic, exploratory
from evaluation.models import Score, Scoring
from judgments.snapshots import snapshots
from pooling.models import Run

pytestmark = pytest.mark.django_db
N = 12
A = [n / 20 for n in range(N)]
B = [0.9 - n / 25 for n in range(N)]


@pytest.fixture
def snapshot(stage, collection):
    """Twelve queries: one of the tail and one without a tier, the others of the head; q11 stands for no traffic."""
    stage.queries(N, tier="head")
    collection.queries.filter(query_id="q00").update(tier="tail")
    collection.queries.filter(query_id="q01").update(tier="")
    for n in range(N):
        collection.queries.filter(query_id=f"q{n:02d}").update(
            weight=(11 - n) / 100, probability=0.5 if n < 6 else 0.25
        )
    stage.store("qrels", "".join(f"q{n:02d} 0 d0 1\n" for n in range(N)), "old.qrels")
    return _frozen(stage, "one")


def _frozen(stage, name):
    return snapshots.freeze(stage.collection, name=name, rounds=[], sources=("imported",), actor=stage.lead)


@pytest.fixture
def scored(snapshot):
    """``scored("name", values)``: a run with these values for q00, q01, ..., under nDCG@10 and AP."""

    def make(name: str, values: list[float | None], metrics: tuple[str, ...] = ("nDCG@10", "AP")) -> Scoring:
        run = Run.objects.create(
            collection=snapshot.collection, name=name, filename=name, path=name, sha256=name, rows=1, queries=1, depth=1
        )
        scoring = Scoring.objects.create(collection=snapshot.collection, snapshot=snapshot, run=run)
        for metric in metrics:
            per_query = {f"q{n:02d}": value for n, value in enumerate(values)}
            Score.objects.create(scoring=scoring, metric=metric, mean=0.5, queries=len(values), per_query=per_query)
        return scoring

    return make


def test_a_difference_within_rounding_is_none() -> None:
    assert (Difference("q", 0.3, 0.1 + 0.2).value, Difference("q", 0.3, 0.1 + 0.2).outcome) == (0.0, "equal")
    assert (Difference("q", 0.5, 0.2).outcome, Difference("q", 0.2, 0.5).outcome) == ("worse", "better")


def test_the_mean_of_the_differences_from_the_largest_gain_on(scored) -> None:
    comparison = compare(scored("a", A), scored("b", B), "nDCG@10")
    apart = [second - first for first, second in zip(A, B, strict=True)]
    assert comparison.pair["difference"] == pytest.approx(math.fsum(apart) / N, abs=1e-15)
    assert [one.value for one in comparison.differences] == pytest.approx(sorted(apart, reverse=True), abs=1e-9)
    # On q10 both have .5, but for rounding.
    assert [comparison.count(outcome) for outcome in OUTCOMES] == [10, 1, 1]
    assert [comparison.pair[count] for count in ("wins", "ties", "losses")] == [10, 1, 1]


def test_the_correction_of_p_depends_on_other_runs_and_p_does_not(scored) -> None:
    a, b = scored("a", A), scored("b", B)
    alone = compare(a, b, "nDCG@10")
    others = [scored("c", [0.5] * N), scored("d", A[::-1])]
    among = compare(a, b, "nDCG@10", others=[*others, a, b])
    assert (alone.family, among.family) == (1, 6)
    assert alone.pair["p"] == among.pair["p"] == alone.pair["p_corrected"]
    assert among.pair["p_corrected"] >= 3 * among.pair["p"]
    assert among.left_out == ()


def test_a_run_without_some_of_the_queries_is_not_in_the_family(scored) -> None:
    short = scored("c", [*A[:-1], None])
    bare = scored("d", A, metrics=("AP",))
    comparison = compare(scored("a", A), scored("b", B), "nDCG@10", others=[short, bare])
    assert (comparison.family, comparison.left_out, comparison.pair["queries"]) == (1, ("c", "d"), N)


def test_only_queries_of_both_are_compared(scored) -> None:
    comparison = compare(scored("a", [None, *A[1:]]), scored("b", [*B[:-1], None]), "nDCG@10")
    assert comparison.pair["queries"] == N - 2


def test_withheld_queries_are_in_no_number(scored) -> None:
    a, b = scored("a", A), scored("b", B)
    comparison = compare(a, b, "nDCG@10", withheld=frozenset({"q00", "q11"}))
    rest = [second - first for first, second in zip(A[1:-1], B[1:-1], strict=True)]
    assert comparison.pair["difference"] == pytest.approx(math.fsum(rest) / (N - 2), abs=1e-15)
    assert exploratory(comparison, ["nDCG@10", "AP"])[0]["queries"] == N - 2
    assert [(row["tier"], row["queries"]) for row in by_tier(comparison)] == [("head", 9), ("no tier", 1)]
    with pytest.raises(NotAllowed, match="may still have to grade"):
        compare(a, b, "nDCG@10", withheld=frozenset(f"q{n:02d}" for n in range(N)))


def test_tiers_in_their_order_with_an_interval_from_ten_queries_on(scored) -> None:
    head, tail, rest = by_tier(compare(scored("a", A), scored("b", B), "nDCG@10"))
    assert [(row["tier"], row["queries"]) for row in (head, tail, rest)] == [("head", 10), ("tail", 1), ("no tier", 1)]
    assert (tail["difference"], rest["difference"]) == pytest.approx((B[0] - A[0], B[1] - A[1]))
    assert (tail["low"], "fewer than 10" in tail["reason"]) == (None, True)
    assert head["low"] < head["difference"] < head["high"]


def test_by_traffic_each_difference_has_the_weight_of_its_query(scored) -> None:
    a, b = scored("a", A), scored("b", B)
    weights = [(11 - n) / 100 / (0.5 if n < 6 else 0.25) for n in range(N)]
    apart = [second - first for first, second in zip(A, B, strict=True)]
    by_hand = math.fsum(w * d for w, d in zip(weights, apart, strict=True)) / math.fsum(weights)
    weighted = compare(a, b, "nDCG@10", weighted=True)
    assert weighted.pair["difference"] == pytest.approx(by_hand)
    assert weighted.pair["queries"] == N - 1  # q11 stands for no traffic
    assert by_traffic(compare(a, b, "nDCG@10")) == weighted.pair
    assert exploratory(weighted, ["AP"])[0]["difference"] == pytest.approx(by_hand)
    assert [row["queries"] for row in by_tier(weighted)] == [9, 1, 1]


def test_a_geometric_mean_is_compared_on_logarithms(scored) -> None:
    values = [0.0, *A[1:]], [0.5] * N
    comparison = compare(*(scored(name, of, metrics=("GMAP",)) for name, of in zip("ab", values, strict=True)), "GMAP")
    logs = [math.log(0.5 / max(value, 1e-5)) for value in values[0]]
    assert comparison.pair["difference"] == pytest.approx(math.fsum(logs) / N)
    assert next(row for row in by_tier(comparison) if row["tier"] == "tail")["difference"] == pytest.approx(logs[0])


def test_incomparable_runs(scored, snapshot, collection, stage) -> None:
    a, b = scored("a", A), scored("b", B, metrics=("AP",))
    with pytest.raises(NotValid, match="b has no score for nDCG@10"):
        compare(a, b, "nDCG@10")
    with pytest.raises(NotValid, match=r"No query .* AP"):
        compare(a, scored("none", [None] * N), "AP")
    other = _frozen(stage, "two")
    elsewhere = Scoring.objects.create(collection=collection, snapshot=other, run=a.run)
    with pytest.raises(NotValid, match="different snapshots"):
        compare(a, elsewhere, "nDCG@10")


@pytest.mark.parametrize("weighted", [False, True])
def test_other_metrics_have_no_draws_over_very_many_queries(scored, monkeypatch, weighted) -> None:
    monkeypatch.setattr(runs, "MOST_DRAWN", N - 2)
    comparison = compare(scored("a", A), scored("b", B), "nDCG@10", weighted=weighted)
    (other,) = exploratory(comparison, ["nDCG@10", "AP"])
    same = ("difference", "wins", "ties", "losses", "queries", "detectable")
    assert {key: other[key] for key in same} == {key: comparison.pair[key] for key in same}
    assert (other["p"], other["low"], other["reason"]) == (None, None, runs.NOT_DRAWN)
    assert by_traffic(comparison) is None
