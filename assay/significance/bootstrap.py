"""Shifted bootstrap test: resample the queries as if two runs had the same mean."""

from __future__ import annotations

import numpy as np

from assay.scoring.intervals import resampled_counts
from assay.significance.paired_differences import (
    PairedScores,
    PairedTest,
    PValues,
    constant,
    limits,
    lonely,
    of_draws,
)
from assay.significance.sign_flips import Floats, count_hits


def shifted_bootstrap(given: PairedScores) -> PValues:
    """Resample queries from differences shifted to mean 0; p is the share of means at least as far from 0."""
    queries = len(given.scores)
    order = np.concatenate(given.strata)
    weights = given.weights[order]
    shifted = (given.scores - given.weighted.sum(axis=0) / queries)[order] * weights[:, None]

    def sums(counts: Floats) -> Floats:
        # The drawn weights sum to the number of queries only if all are equal.
        sums_of_draws: Floats = (counts @ shifted) * (queries / (counts @ weights))[:, None]
        return sums_of_draws

    draws = resampled_counts([len(rows) for rows in given.strata], given.permutations, given.seed)
    p_values = of_draws(count_hits(draws, sums, given.pairs, limits(given)), given.permutations)
    no_spread = lonely(given.strata)
    reasons = tuple(no_spread or constant(given.difference(pair)) for pair in given.pairs)
    values = tuple(None if reason else value for value, reason in zip(p_values.values, reasons, strict=True))
    return PValues(values, reasons, p_values.smallest, given.permutations)


BOOTSTRAP = PairedTest(
    name="bootstrap",
    title="Paired bootstrap",
    description="Assumes that the queries represent all queries; resamples the differences, shifted to a mean of 0.",
    source="Efron and Tibshirani 1993, section 16.4",
    draws=True,
    compute=shifted_bootstrap,
)
