"""Exact sign test: wins of one run among the queries that differ."""

from __future__ import annotations

import numpy as np

from assay.metrics.metric import TIE
from assay.significance.paired_differences import PairedScores, PairedTest, PValues


def sign_test(given: PairedScores) -> PValues:
    """Compute the exact two-sided sign test: wins among the queries that differ are binomial with one half."""
    from scipy.special import bdtr

    values = []
    for pair in given.pairs:
        difference = given.difference(pair)
        wins, losses = np.count_nonzero(difference > TIE), np.count_nonzero(difference < -TIE)
        values.append(min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5))) if wins + losses else 1.0)
    return PValues(tuple(values), (None,) * len(values))


SIGN = PairedTest(
    name="sign",
    title="Sign test",
    description="Assumes only that queries are independent; weak, because it uses which run won but not by how much.",
    source="Arbuthnott 1710",
    draws=False,
    compute=sign_test,
    has_weighted_form=False,
)
