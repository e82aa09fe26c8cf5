"""Tests of comparing runs: complete results and refused input."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import NotValid, UnknownName
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.scoring.evaluate import evaluate
from assay.significance import TESTS
from assay.significance.compare import Plan, compare, compare_scores
from assay.significance.corrections import corrected
from assay.significance.paired_differences import paired_p_values
from assay.significance.power import queries_needed
from assay.significance.results import effect

QUERIES = [f"q{number:02}" for number in range(24)]
QRELS = Qrels.from_dict({query: {"good": 1} for query in QUERIES})
QUICK = Plan(permutations=500, resamples=200)


def run(name: str, hits: int, queries: list[str] = QUERIES) -> Run:
    """A run that puts the one good document first for so many queries, and second for the rest."""
    return Run.from_dict(
        {query: {"good": 3.0 if at < hits else 1.0, "bad": 2.0} for at, query in enumerate(queries)}, name=name
    )


RUNS = [run("a", 4), run("b", 12), run("c", 24)]


def test_all_pairs_with_means_differences_and_counts() -> None:
    comparison = compare(QRELS, RUNS, "RR P@1", plan=QUICK)
    assert [(pair.metric, pair.a, pair.b) for pair in comparison.pairs] == [
        (metric, *names) for metric in ("RR", "P@1") for names in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    first = comparison.pairs[0]
    assert comparison.runs["a"] == {"RR": pytest.approx(14 / 24), "P@1": pytest.approx(4 / 24)}
    assert first.effect.difference == pytest.approx(comparison.runs["b"]["RR"] - comparison.runs["a"]["RR"])
    assert (first.effect.wins, first.effect.ties, first.effect.losses, first.queries) == (8, 16, 0, 24)


def test_the_family_is_all_comparisons_of_one_metric() -> None:
    comparison = compare(QRELS, RUNS, "RR P@1", plan=QUICK)
    for metric in ("RR", "P@1"):
        family = comparison.of_metric(metric)
        assert [pair.p_corrected for pair in family] == corrected([pair.p for pair in family], "holm")
    assert (comparison.settings["family"], comparison.settings["primary"]) == (3, "RR")


def test_a_baseline_is_compared_with_the_others_only() -> None:
    comparison = compare(QRELS, RUNS, "RR", baseline="b", plan=QUICK)
    assert [(pair.a, pair.b) for pair in comparison.pairs] == [("b", "a"), ("b", "c")]
    assert [pair.effect.difference > 0 for pair in comparison.pairs] == [False, True]
    assert comparison.settings["family"] == 2


def test_the_runs_are_ranked_by_each_metric_and_the_rankings_compared() -> None:
    comparison = compare(QRELS, RUNS, "RR P@1 R@2", plan=QUICK)
    assert [(one.a, one.b) for one in comparison.rankings] == [("RR", "P@1"), ("RR", "R@2"), ("P@1", "R@2")]
    assert (comparison.rankings[0].agreement.tau_b, comparison.rankings[0].agreement.rbo) == (1.0, pytest.approx(1.0))
    # Every run has the good document among its first two: all are tied.
    assert comparison.rankings[1].agreement.tau_b is None
    assert comparison.as_json()["rankings"][1]["reasons"]["tau_b"] == "all systems are tied in one of the orders"


def test_two_runs_or_one_metric_have_no_rankings_to_compare() -> None:
    assert compare(QRELS, RUNS[:2], "RR P@1", plan=QUICK).rankings == ()
    assert compare(QRELS, RUNS, "RR", plan=QUICK).as_json()["rankings"] == []


def test_runs_that_do_not_differ_share_a_letter() -> None:
    comparison = compare(QRELS, RUNS, "RR", plan=Plan(permutations=3000, resamples=50))
    assert [pair.differs() for pair in comparison.pairs] == [True, True, True]
    assert comparison.groups("RR") == {"c": "a", "b": "b", "a": "c"}
    # b and a differ on 8 queries in one direction: 2 of 256 patterns, p = .008; c and b on 12.
    assert comparison.groups("RR", alpha=0.005) == {"c": "a", "b": "b", "a": "b"}
    assert comparison.as_json()["groups"] == {"RR": {"c": "a", "b": "b", "a": "c"}}


def test_letters_use_the_raw_p_without_a_correction() -> None:
    comparison = compare(QRELS, RUNS, "RR", plan=Plan(correction="none", permutations=500, resamples=50))
    assert comparison.groups("RR") == {"c": "a", "b": "b", "a": "c"}


def test_against_a_baseline_there_are_no_letters() -> None:
    comparison = compare(QRELS, RUNS, "RR", baseline="a", plan=QUICK)
    assert comparison.groups("RR") is None
    assert comparison.as_json()["groups"] == {"RR": None}


def test_tukey_corrects_itself_and_takes_no_other_correction() -> None:
    comparison = compare(QRELS, RUNS, "RR", plan=Plan(test="tukey", permutations=500, resamples=50))
    assert all(pair.p is not None and pair.p_corrected == pair.p for pair in comparison.pairs)
    assert comparison.settings["correction"] == "the test itself"
    baseline = compare(QRELS, RUNS, "RR", baseline="a", plan=Plan(test="tukey", permutations=500, resamples=50))
    assert [pair.p for pair in baseline.pairs] == [pair.p for pair in comparison.pairs[:2]]
    with pytest.raises(NotValid, match="already corrects for all pairs"):
        Plan(test="tukey", correction="holm")


def test_gmap_is_compared_by_logarithms() -> None:
    comparison = compare(QRELS, RUNS, "GMAP", plan=QUICK)
    evaluation = evaluate(QRELS, RUNS, "GMAP")
    assert comparison.runs["a"]["GMAP"] == pytest.approx(evaluation.runs[0].metrics["GMAP"].mean)
    # 8 of 24 queries go from AP 1/2 to AP 1.
    assert comparison.pairs[0].effect.difference == pytest.approx(8 / 24 * np.log(2))
    assert comparison.settings["logarithms"] == ["GMAP"]


def test_how_many_queries_the_difference_needs() -> None:
    (pair,) = compare(QRELS, RUNS[:2], "RR", plan=QUICK).pairs
    first, second = (evaluate(QRELS, RUNS[:2], "RR").runs[at].per_query["RR"] for at in (0, 1))
    needed = queries_needed(float((second - first).mean()), float((second - first).std(ddof=1)))
    assert pair.effect.queries_needed == needed.queries == pair.as_json()["queries_needed"]


def test_p_is_that_of_the_test() -> None:
    scores = np.column_stack([one.per_query["RR"] for one in evaluate(QRELS, RUNS, "RR").runs])
    for test in TESTS:
        comparison = compare(QRELS, RUNS, "RR", plan=Plan(test=test, permutations=500, resamples=50))
        assert [pair.p for pair in comparison.pairs] == list(
            paired_p_values(scores, test=test, permutations=500).values
        )


def test_without_a_correction_there_is_no_corrected_p() -> None:
    comparison = compare(QRELS, RUNS, "RR", plan=Plan(correction="none", permutations=500, resamples=50))
    assert [pair.p_corrected for pair in comparison.pairs] == [None] * 3
    assert all(pair.p is not None and pair.reason is None for pair in comparison.pairs)


def test_few_queries_have_no_p_and_a_reason() -> None:
    few = Qrels.from_dict({query: {"good": 1} for query in QUERIES[:5]})
    (pair,) = compare(few, RUNS[:2], "RR").pairs
    assert (pair.p, pair.p_corrected, pair.low, pair.high) == (None, None, None, None)
    assert "fewer than 6 queries" in str(pair.reason)
    assert pair.effect.wins == 1
    assert set(pair.as_json()) >= {"p", "p_corrected", "low", "high", "reason"}


def test_identical_runs_differ_in_nothing() -> None:
    (pair,) = compare(QRELS, [run("a", 5), run("b", 5)], "RR", plan=QUICK).pairs
    assert (pair.effect.difference, pair.p, pair.effect.size, pair.effect.ties) == (0.0, 1.0, None, 24)
    assert pair.reason == "no effect size, because the differences do not vary"


def test_unanswered_queries_score_0_or_leave_all_comparisons() -> None:
    partial = run("b", 12, QUERIES[:20])
    zero = compare(QRELS, [RUNS[0], partial], "RR", plan=QUICK)
    skip = compare(QRELS, [RUNS[0], partial], "RR", missing="skip", plan=QUICK)
    assert (zero.pairs[0].queries, skip.pairs[0].queries) == (24, 20)
    assert skip.settings["queries_left_out"] == 4
    assert skip.runs["a"]["RR"] == pytest.approx((4 + 16 / 2) / 20)


def test_no_common_query_is_an_error() -> None:
    one, other = run("a", 5, QUERIES[:12]), run("b", 5, QUERIES[12:])
    with pytest.raises(NotValid, match="in common"):
        compare(QRELS, [one, other], "RR", missing="skip")


def test_a_stored_evaluation_can_be_compared_too() -> None:
    evaluation = evaluate(QRELS, RUNS, "RR")
    assert compare_scores(evaluation, plan=QUICK) == compare(QRELS, RUNS, "RR", plan=QUICK)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"permutations": 0}, "from 1"),
        ({"permutations": 10**9}, "10,000,000"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"seed": -1}, "0 or more"),
        ({"alpha": 0.0}, "alpha is 0"),
        ({"resamples": 0}, "resamples is 0"),
    ],
)
def test_numbers_that_cannot_be_used(fields: dict[str, float], message: str) -> None:
    with pytest.raises(NotValid, match=message):
        Plan(**fields)  # type: ignore[arg-type]


def test_names_that_are_not_known() -> None:
    with pytest.raises(UnknownName, match="randomization"):
        Plan(test="wilcox")
    with pytest.raises(UnknownName, match="holm"):
        Plan(correction="homl")
    with pytest.raises(NotValid, match="runs: a, b, c"):
        compare(QRELS, RUNS, "RR", baseline="d")
    with pytest.raises(NotValid, match="two runs"):
        compare(QRELS, RUNS[:1], "RR")


def test_the_effect_size_is_the_mean_over_the_spread() -> None:
    first, second = np.array([0.1, 0.4, 0.3, 0.8]), np.array([0.3, 0.4 + 1e-10, 0.2, 0.9])
    result = effect(first, second)
    difference = second - first
    assert result.size == pytest.approx(difference.mean() / difference.std(ddof=1))
    assert (result.wins, result.ties, result.losses) == (2, 1, 1)
    assert result.detectable == pytest.approx(2.8 * difference.std(ddof=1) / 2)
