"""Tests of mistakes in other engines. Each test names the engine and its mistake."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from assay.cli.compare import FORMATS
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.significance.compare import Plan, compare
from assay.significance.corrections import corrected
from assay.significance.paired_differences import paired_p_values
from tests.assay.significance.synthetic import runs

QUICK = Plan(permutations=200, resamples=50)
QUERIES = [f"q{number:02}" for number in range(12)]
QRELS = Qrels.from_dict({query: {"good": 1} for query in QUERIES})


def run(name: str, hits: int) -> Run:
    return Run.from_dict(
        {query: {"good": 3.0 if at < hits else 1.0, "bad": 2.0} for at, query in enumerate(QUERIES)}, name=name
    )


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "tukey"])
def test_ranx_divides_hits_by_draws_and_prints_p_of_0(test: str) -> None:
    scores = np.column_stack([np.linspace(0, 0.1, 40), np.linspace(0.4, 0.5, 40), np.linspace(0.8, 1.0, 40)])
    result = paired_p_values(scores, [(0, 2)], test=test, permutations=999)
    assert result.values == (1 / 1000,) == (result.smallest,)


def test_ranx_does_not_honor_its_seed() -> None:
    # There .2382 and then .2394 from the same call with the same seed.
    assert paired_p_values(runs(43, 3), seed=7) == paired_p_values(runs(43, 3), seed=7)


def test_the_tukey_test_of_ranx_forgets_that_queries_are_paired() -> None:
    """Queries from .1 to .9 and a gain of .01 on each: there p = .89 where the paired t has 5e-21."""
    random = np.random.default_rng(1)
    base = np.linspace(0.1, 0.9, 50)
    scores = np.column_stack([base, base + 0.01 + random.normal(scale=0.003, size=50), base + 0.0001])
    unpaired = stats.tukey_hsd(scores[:, 0], scores[:, 1], scores[:, 2]).pvalue[0, 1]
    assert unpaired > 0.8
    assert stats.ttest_rel(scores[:, 0], scores[:, 1]).pvalue < 1e-15
    assert paired_p_values(scores, [(0, 1)], test="tukey", permutations=9999).values == (1 / 10_000,)


def test_ranx_corrects_nothing() -> None:
    comparison = compare(QRELS, [run("a", 2), run("b", 6), run("c", 12)], "RR", plan=QUICK)
    raw = [pair.p for pair in comparison.pairs]
    assert [pair.p_corrected for pair in comparison.pairs] == corrected(raw, "holm") != raw


def test_ranx_tests_both_orders_of_a_pair() -> None:
    comparison = compare(QRELS, [run(name, hits) for hits, name in enumerate("abcd")], "RR", plan=QUICK)
    assert [(pair.a, pair.b) for pair in comparison.pairs] == list(combinations("abcd", 2))


@pytest.mark.parametrize("form", FORMATS)
def test_ranx_has_letters_for_26_runs_only(form: str) -> None:
    many = [run(f"run{at:02}", at % 13) for at in range(28)]
    comparison = compare(QRELS, many, "P@1", plan=QUICK)
    groups = comparison.groups("P@1")
    assert groups is not None
    assert len(groups) == 28
    assert "run27" in FORMATS[form](comparison, {})


def test_ranx_edits_the_runs_that_it_compares() -> None:
    answered = {query: {"good": 1.0} for query in QUERIES[:9]}
    partial, full = Run.from_dict(answered, name="partial"), run("full", 12)
    compare(QRELS, [partial, full], "RR", plan=QUICK)
    assert partial.query_ids == tuple(QUERIES[:9])
    scores = runs(20, 3)
    before = scores.copy()
    for test in ("randomization", "t", "bootstrap", "wilcoxon", "sign", "tukey"):
        paired_p_values(scores, test=test, permutations=50)
    assert (scores == before).all()


def test_in_pyterrier_a_baselines_own_row_spoils_the_correction() -> None:
    # Its p is NaN there, and every corrected p with it; here the baseline is not in its own family.
    comparison = compare(QRELS, [run("a", 2), run("b", 6), run("c", 12)], "RR", baseline="a", plan=QUICK)
    assert [(pair.a, pair.b) for pair in comparison.pairs] == [("a", "b"), ("a", "c")]
    assert all(pair.p_corrected is not None for pair in comparison.pairs)
    assert corrected([None, 0.01, 0.02], "holm") == [None, 0.02, 0.02]


def test_single_precision_moves_p() -> None:
    # Scores that are equal in float32 and not in float64 still decide who won.
    difference = np.array([1e-8] * 12)
    scores = np.column_stack([np.full(12, 0.5), 0.5 + difference])
    assert (scores.astype(np.float32)[:, 0] == scores.astype(np.float32)[:, 1]).all()
    assert paired_p_values(scores).values == (2 / 2**12,)


def test_ties_of_sums_are_hits_where_rounding_tells_them_apart() -> None:
    # Sums of tenths in different orders differ in the last bit: counted strictly, p would be too small.
    scores = np.column_stack([np.zeros(10), [0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, -0.2, -0.3, -0.1]])
    whole = np.round(scores[:, 1] * 10).astype(int)
    patterns = (np.arange(1024)[:, None] >> np.arange(10) & 1) * 2 - 1
    expected = float((np.abs(patterns @ whole) >= abs(whole.sum())).mean())
    assert paired_p_values(scores).values == (expected,)


def test_no_peer_weights_queries_by_traffic() -> None:
    scores = runs(30, 2)
    plain = paired_p_values(scores).values
    assert paired_p_values(scores, weights=np.linspace(0.1, 5, 30).tolist()).values != plain
