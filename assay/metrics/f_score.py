"""F score at a cutoff: the weighted harmonic mean of precision and recall."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, share
from assay.metrics.metric import REL, Metric, Parameter
from assay.metrics.metric_bounds import Additive, Response, reaching, within


def f_score(rankings: JudgedRankings, cutoff: int, rel: float = 1, beta: float = 1) -> Floats:
    """Compute the weighted harmonic mean of precision and recall at `cutoff`.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int
        The number of ranks; precision divides by it even if fewer documents were returned.
    rel : float
        The lowest grade that is relevant.
    beta : float
        Recall counts beta times as much as precision.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if there is no relevant document within the cutoff.

    Examples
    --------
    >>> rankings = JudgedRankings.of((4, {1: 1, 3: 1}, [1, 1, 1, 1, 1]))
    >>> f_score(rankings, cutoff=3).round(4), f_score(rankings, cutoff=3, beta=2).round(4)
    (array([0.5]), array([0.4348]))
    """
    return f_of(rankings.relevant_within(cutoff, rel), cutoff, rankings.relevant(rel), beta)


def f_of(hits: Integers, returned: int | Integers, relevant: Integers, beta: float) -> Floats:
    """Compute F from counts: (1 + b^2) P R / (b^2 P + R) with P and R written out."""
    weight = beta * beta
    parts, wholes = hits.astype(np.float64), relevant.astype(np.float64)
    return share((1.0 + weight) * parts, weight * wholes + returned)


def _weight(ranks: Integers, cutoff: int, beta: float = 1, **_: object) -> Floats:
    return within(ranks, cutoff) * (1.0 + beta * beta)


def _ranks(cutoff: int, **_: object) -> float:
    return float(cutoff)


def _weighted(counts: Integers, cutoff: int, beta: float = 1, **_: object) -> Floats:
    return counts.astype(np.float64) * beta * beta


BETA = Parameter("beta", 1, "Recall counts beta times as much as precision.")

F = Metric(
    name="F",
    title="F score",
    description="The harmonic mean of precision and recall at k, for lists that a reader sees as a whole.",
    formula="(1 + beta^2) * P@k * R@k / (beta^2 * P@k + R@k); 0 if no relevant document is in the top k.",
    source="Van Rijsbergen 1979, chapter 7.",
    per_query=f_score,
    cutoff="required",
    parameters=(REL, BETA),
    aliases={"f1": {}},
    response=Response("rising", Additive(reaching, _weight, base=_ranks, ideal=_weighted)),
)
