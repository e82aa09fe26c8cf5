"""Tests of estimates and biases from labels: equal to the values of `evaluate`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import kendalltau, ks_2samp, ttest_1samp

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.estimators.human_machine_mean import UNLIKE, Method, chance_alike, estimates
from assay.estimators.judge_bias import metric_bias
from assay.estimators.prediction_powered import powered_mean
from evaluation import evaluate

RNG = np.random.default_rng(11)
QUERIES = [f"q{number:03}" for number in range(120)]
TRUTH = {query: {f"d{place}": int(RNG.integers(0, 4)) for place in range(12)} for query in QUERIES}
GUESS = {
    query: {doc: int(np.clip(grade + RNG.integers(-1, 2), 0, 3)) for doc, grade in of.items()}
    for query, of in TRUTH.items()
}
SAMPLE = QUERIES[:40]
PEOPLE = Qrels.from_dict({query: TRUTH[query] for query in SAMPLE})
MACHINE = Qrels.from_dict(GUESS)


def ranked(name: str, noise: float) -> Run:
    rng = np.random.default_rng(len(name))
    return Run.from_dict(
        {query: {doc: grade + rng.normal(0, noise) for doc, grade in of.items()} for query, of in TRUTH.items()},
        name=name,
    )


RUNS = [ranked("good", 0.5), ranked("middling", 2.0), ranked("poorest", 9.0)]


def test_the_estimate_is_that_of_the_values_of_each_query() -> None:
    result = estimates(PEOPLE, MACHINE, RUNS, "nDCG@10")
    human = evaluate(PEOPLE, RUNS, "nDCG@10").runs
    machine = evaluate(MACHINE, RUNS, "nDCG@10").runs
    assert [one.run for one in result] == ["good", "middling", "poorest"]
    for one, ours, theirs in zip(result, human, machine, strict=True):
        values = theirs.per_query["nDCG@10"]
        expected = powered_mean(ours.per_query["nDCG@10"], values[:40], values[40:])
        assert one.powered == expected
        assert one.machine_only == pytest.approx(values.mean())
        assert (one.powered.queries, one.powered.others, one.notes) == (40, 80, ())


def test_the_interval_covers_the_truth_where_the_machine_alone_is_biased() -> None:
    # The two on which people and the machine differ much; of the third nearly every value is 1.
    truth = evaluate(Qrels.from_dict(TRUTH), RUNS[1:], "nDCG@10").runs
    for one, right in zip(estimates(PEOPLE, MACHINE, RUNS[1:], "nDCG@10"), truth, strict=True):
        mean = right.metrics["nDCG@10"].mean
        assert mean is not None
        assert one.powered.low <= mean <= one.powered.high  # type: ignore[operator]


def test_planning_asks_fewer_queries_of_people_with_the_machine() -> None:
    (one,) = estimates(PEOPLE, MACHINE, RUNS[1:2], "nDCG@10", half=0.01)
    assert one.needed is not None
    assert one.needed[0] < one.needed[1]


def test_limits_of_the_estimate_are_reported() -> None:
    few = Qrels.from_dict({query: TRUTH[query] for query in [*SAMPLE[:5], "elsewhere"] if query in TRUTH})
    (one,) = estimates(few, Qrels.from_dict({query: GUESS[query] for query in SAMPLE[:5]}), RUNS[:1], "AP")
    assert any("no other query" in note for note in one.notes)
    assert any("5 queries" in note for note in one.notes)
    with pytest.raises(NotValid, match="both human and machine labels"):
        estimates(Qrels.from_dict({"x": {"d": 1}}), MACHINE, RUNS, "AP")


def test_bias_is_the_paired_difference_and_tau_that_of_scipy() -> None:
    result = metric_bias(PEOPLE, MACHINE, RUNS, "nDCG@10 P@5")
    human, machine = evaluate(PEOPLE, RUNS, "P@5").runs, evaluate(MACHINE, RUNS, "P@5").runs
    row = next(row for row in result.rows if (row.run, row.metric) == ("middling", "P@5"))
    apart = machine[1].per_query["P@5"][:40] - human[1].per_query["P@5"]
    interval = ttest_1samp(apart, 0).confidence_interval()
    assert (row.difference, row.low, row.high) == pytest.approx((apart.mean(), interval.low, interval.high))
    assert row.correlation == pytest.approx(
        np.corrcoef(machine[1].per_query["P@5"][:40], human[1].per_query["P@5"])[0, 1]
    )
    means = [[getattr(one, side) for one in result.rows if one.metric == "P@5"] for side in ("people", "machine")]
    assert result.tau["P@5"] == pytest.approx(kendalltau(*means).statistic)
    assert result.queries == 40


def test_one_run_has_no_order() -> None:
    assert metric_bias(PEOPLE, MACHINE, RUNS[:1], "AP").tau == {"AP": None}


@pytest.mark.parametrize("method", ["ppi", "stratified"])
def test_queries_that_are_no_sample_are_reported(method: Method) -> None:
    """Those that people labeled are the ones on which the machine finds the run best."""
    (values,) = (run.per_query["P@5"] for run in evaluate(MACHINE, RUNS[1:2], "P(rel=3)@5 P@5").runs)
    order = [QUERIES[place] for place in np.argsort(-values, kind="stable")]
    best = Qrels.from_dict({query: TRUTH[query] for query in order[:40]})
    (one,) = estimates(best, MACHINE, RUNS[1:2], "P@5", method=method)
    assert "are unlike the others" in one.notes[0]
    (drawn,) = estimates(PEOPLE, MACHINE, RUNS[1:2], "P@5", method=method)
    assert drawn.notes == ()


def test_two_samples_are_unlike_where_scipy_says_so() -> None:
    rng = np.random.default_rng(5)
    verdicts = []
    for _ in range(400):
        first, second = (int(rng.integers(20, 200)) for _ in range(2))
        a, b = rng.normal(size=first), rng.normal(rng.choice([0.0, 0.5, 0.8]), size=second)
        exact = ks_2samp(a, b).pvalue
        ours = chance_alike(a, b)
        assert ours == pytest.approx(exact, rel=0.25, abs=0.03)
        if not UNLIKE / 2 < exact < UNLIKE * 2:  # near the limit either is right
            assert (ours < UNLIKE) == (exact < UNLIKE)
            verdicts.append(exact < UNLIKE)
    assert min(sum(verdicts), len(verdicts) - sum(verdicts)) > 20


def test_no_page_of_estimates_waits_for_scipy_stats() -> None:
    code = """
import sys
import numpy as np
import assay.estimators.stratified_mean, assay.sampling.traffic_estimate
from assay.estimators.human_machine_mean import chance_alike
from assay.coefficients.audit_bound import right_outside
chance_alike(np.arange(5.0), np.arange(7.0)), right_outside(400, 100, 95, 0.025)
print(*(module for module in ("scipy.stats", "scipy.optimize") if module in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
