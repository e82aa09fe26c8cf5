"""Tests of rankings without a rater and by one rater: equal to scoring the grades again."""

from __future__ import annotations

import random

import pytest

from assay.aggregation import aggregate
from assay.core import Qrels, Ratings, Run
from assay.effects.rater_effects import rater_effects
from assay.metrics.metric import parse_metric
from assay.scoring.evaluate import evaluate
from assay.significance.rank_correlation import rank_correlation

QUERIES, DOCUMENTS = 9, 14


def world(seed: int) -> tuple[list[tuple[str, str, str, int]], list[Run]]:
    """Raters who grade some of the documents, and runs that return some, judged and not."""
    chance = random.Random(seed)
    rows = [
        (f"q{query}", f"d{document}", f"r{rater}", chance.choice([0, 0, 1, 2, 3]))
        for query in range(QUERIES)
        for document in range(DOCUMENTS)
        for rater in range(5)
        if chance.random() < 0.45
    ]
    runs = [
        Run.from_dict(
            {
                f"q{query}": {f"d{document}": chance.random() for document in range(DOCUMENTS + 4)}
                for query in range(QUERIES)
                if chance.random() < 0.9
            },
            f"run{number}",
        )
        for number in range(6)
    ]
    return rows, runs


def labels(rows: list[tuple[str, str, str, int]], rule: str, settled: dict[tuple[str, str], int]) -> dict:
    return {(row[0], row[1]): row[2] for row in aggregate(Ratings.from_rows(rows), rule).rows()} | settled


def means(made: dict, runs: list[Run], queries: set[str], metric: str) -> dict[str, float]:
    qrels = Qrels.from_rows((*key, grade) for key, grade in made.items() if key[0] in queries)
    return {one.name: one.metrics[metric].mean for one in evaluate(qrels, runs, [metric], level=None).runs}


def rank(of: dict[str, float], run: str) -> int:
    return sum(value > of[run] + 1e-9 for value in of.values())


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["median", "majority", "mean", "dawid-skene"])
@pytest.mark.parametrize("metric", ["nDCG@10", "AP(rel=2)"])
def test_orders_are_those_of_scoring_everything_again(rule: str, metric: str) -> None:
    rows, runs = world(3)
    settled = {("q0", "d0"): 3, ("q1", "d1"): 0, ("q2", "d99"): 2}
    result = rater_effects(Ratings.from_rows(rows), settled, runs, parse_metric(metric), rule=rule)
    everybody = labels(rows, rule, settled)
    assert [one.rater for one in result] == [f"r{rater}" for rater in range(5)]
    for one in result:
        without = labels([row for row in rows if row[2] != one.rater], rule, settled)
        alone = labels([row for row in rows if row[2] == one.rater], rule, {})
        for expected, other in ((one.without, without), (one.alone, alone)):
            both = {key[0] for key in everybody} & {key[0] for key in other}
            before, after = (means(made, runs, both, metric) for made in (everybody, other))
            assert expected.queries == len(both)
            assert expected.tau == pytest.approx(rank_correlation(before, after).tau_b, abs=1e-12)
            assert expected.change == pytest.approx(sum(abs(after[run] - before[run]) for run in before) / len(before))
            assert expected.moved == max(abs(rank(after, run) - rank(before, run)) for run in before)


def test_a_rater_who_was_alone_on_a_query_takes_it_along() -> None:
    rows = [("q0", "a", "r1", 1), ("q1", "a", "r1", 1), ("q1", "a", "r2", 1)]
    runs = [Run.from_dict({"q0": {"a": 1.0}, "q1": {"a": 1.0}}, name) for name in ("x", "y")]
    one, two = rater_effects(Ratings.from_rows(rows), {}, runs, parse_metric("P@1"))
    assert (one.without.queries, two.without.queries) == (1, 2)
    assert one.without.reason == "all systems are tied in one of the orders"
    alone = rater_effects(Ratings.from_rows(rows[:1]), {}, runs, parse_metric("P@1"))[0]
    assert (alone.without.tau, alone.without.reason) == (None, "no query has a label in both sets")
