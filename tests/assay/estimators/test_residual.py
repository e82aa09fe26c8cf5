"""Tests of the estimate of missed documents from a random sample, and its coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from assay.estimators.residual_sample import Stratum, missed_by_sample


@pytest.mark.parametrize(("share", "drawn", "population"), [(0.01, 10, 150), (0.1, 10, 60), (0.05, 20, 40)])
def test_the_estimate_is_unbiased_and_its_interval_holds_the_truth(share, drawn, population):
    """Forty queries of which few hold most of the relevant documents; the truth is known, as it was drawn."""
    generator = np.random.default_rng(5)
    held, errors, truths = 0, [], []
    for _ in range(600):
        there = generator.binomial(population, np.clip(generator.gamma(0.5, share / 0.5, 40), 0, 1))
        seen = generator.hypergeometric(there, population - there, drawn)
        result = missed_by_sample([Stratum("q", population, drawn, int(one)) for one in seen], relevant_count=100)
        truth = int((there - seen).sum())
        held += result.low <= truth <= result.high
        errors.append(result.value - truth)
        truths.append(truth)
    assert held / 600 >= 0.945
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(600)
    assert np.std(errors) < 1.5 * np.mean(truths)


@pytest.mark.parametrize(("population", "drawn"), [(1000, 100), (200, 40), (500, 10)])
def test_nothing_relevant_in_the_sample_still_leaves_an_upper_end(population, drawn):
    """The exact end: the most relevant documents of which none is drawn with a chance of at least 2.5 %."""
    rows = [k for k in range(population - drawn) if hypergeom.pmf(0, population, k, drawn) >= 0.025]
    result = missed_by_sample([Stratum("q1", population, drawn, 0)], relevant_count=12)
    assert (result.value, result.low) == (0.0, 0.0)
    assert max(rows) <= result.high <= max(rows) * 1.05 + 2


def test_a_stratum_that_was_judged_whole_leaves_nothing():
    result = missed_by_sample([Stratum("q1", 10, 10, 3), Stratum("q2", 4, 4, 0)], relevant_count=20)
    assert (result.value, result.low, result.high, result.unjudged) == (0.0, 0.0, 0.0, 0)
    assert result.share_found == 1.0


def test_queries_without_a_grade_are_reported_and_not_guessed():
    result = missed_by_sample([Stratum("q1", 100, 10, 1), Stratum("q2", 100, 0, 0)], relevant_count=5)
    assert (result.value, result.queries, result.unjudged) == (9.0, 1, 90)
    assert result.notes[0] == "1 query has no graded document in the residual stratum yet"
    none = missed_by_sample([Stratum("q2", 100, 0, 0)], relevant_count=5)
    assert none.value is None
    assert none.reason == "no document of the residual stratum has a grade yet"
    assert none.share_found is None


def test_one_document_a_query_has_an_interval_too():
    result = missed_by_sample([Stratum(f"q{n}", 50, 1, int(n < 5)) for n in range(40)], relevant_count=5)
    assert result.value == pytest.approx(5 * 49)
    assert 50 < result.low < 245 < result.high < 600
