"""Judged@k: the share of the returned documents that have a judgment."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import Metric


def judged(rankings: JudgedRankings, cutoff: int | None = None) -> Floats:
    """Compute the share of the returned documents that have a judgment.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1. The divisor is the number of documents returned within the cutoff, so a short list is not
        penalized; trec_eval's ``unj`` divides by the cutoff and is therefore not one minus this value. A negative grade
        is a judgment.

    Examples
    --------
    >>> judged(JudgedRankings.of((2, {1: 1}, [1, 1])), cutoff=10)
    array([0.5])
    """
    depth = rankings.returned if cutoff is None else np.minimum(rankings.returned, cutoff)
    return share(rankings.count(rankings.within(cutoff)), depth)


JUDGED = Metric(
    name="Judged",
    title="Share judged",
    description="The share of the returned documents that are judged; read it together with every other metric.",
    formula="judged documents in the top k / min(k, n), where n is the number of documents returned; 0 if "
    "nothing is returned.",
    source="Judged@k of ir_measures, with trec_eval's order of tied documents.",
    per_query=judged,
)
