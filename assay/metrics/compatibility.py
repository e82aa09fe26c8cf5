"""Compatibility: rank-biased overlap of the run with the ideal ranking."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, share
from assay.metrics.metric import Metric, Parameter


def compatibility(rankings: JudgedRankings, cutoff: None = None, p: float = 0.95, normalize: bool = True) -> Floats:
    """Compute the rank-biased overlap of the run with the ideal ranking.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None
        Not used: the weights decrease with the rank.
    p : float
        The probability that the reader continues to the next rank, between 0 and 1.
    normalize : bool
        Whether to divide by the overlap of the ideal ranking with itself, which is below 1 if the run is longer than
        the ideal.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if no document has a positive grade or nothing is returned.

    Notes
    -----
    The ideal ranking contains the documents with positive grades, sorted by grade descending; documents of the same
    grade keep the run's order, followed by those that the run does not return. A document at rank r of the run and t of
    the ideal is in both tops from the larger rank down to the depth D, so it adds the sum of p^(i-1) / i from there to
    D.

    Examples
    --------
    >>> rankings = JudgedRankings.of((2, {1: 1}, [1, 1]))
    >>> compatibility(rankings, p=0.5).round(4)
    array([0.8333])
    """
    ideal = np.bincount(rankings.judged_query[rankings.judged > 0], minlength=rankings.queries)
    depth = np.maximum(rankings.returned, ideal)
    steps = np.arange(1, int(depth.max(initial=0)) + 1)
    weights = np.concatenate(([0.0], np.cumsum(p ** (steps - 1.0))))
    shares = np.concatenate(([0.0], np.cumsum(p ** (steps - 1.0) / steps)))
    positive = rankings.grades > 0
    enters = np.maximum(rankings.ranks, _ideal_ranks(rankings, positive))
    overlap = rankings.total(shares[depth[rankings.query]] - shares[enters - 1], positive)
    # Overlap of the ideal with itself: the tops agree down to its end, and contain all of it from there on.
    best = weights[ideal] + ideal * (shares[depth] - shares[ideal]) if normalize else weights[depth]
    return share(overlap, best)


def _ideal_ranks(rankings: JudgedRankings, positive: np.typing.NDArray[np.bool_]) -> Integers:
    """Return the ideal rank of each returned judged document with a positive grade; 1 for the others."""
    ranks = np.ones(len(positive), dtype=np.int64)
    rows = np.flatnonzero(positive)
    higher, query = rankings.judged_higher[rows], rankings.query[rows]
    # Documents of the same query and grade have the same number above them; a stable sort keeps their ranking.
    order = np.lexsort((higher, query))
    starts = np.flatnonzero((np.diff(higher[order], prepend=-1) != 0) | (np.diff(query[order], prepend=-1) != 0))
    before = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    ranks[rows[order]] = higher[order] + before + 1
    return ranks


COMPAT = Metric(
    name="Compat",
    title="Compatibility",
    description="How much the ranking overlaps with the ideal ranking, weighted toward the top.",
    formula="RBO(run, ideal) / RBO(ideal, ideal), each down to depth D, the length of the longer ranking. RBO = "
    "sum over i of p^(i-1) (documents in the top i of both) / i, divided by the sum of p^(i-1). The ideal "
    "ranking contains the documents with a positive grade, sorted by grade and, within a grade, in the run's "
    "order, with documents that are not returned last. 0 if there are none.",
    source="Clarke, Vtyurina and Smucker 2021; RBO: Webber, Moffat and Zobel 2010. ir_measures ranks documents "
    "that are not returned as if they scored 0, which makes a difference if scores are negative.",
    per_query=compatibility,
    cutoff="none",
    parameters=(
        Parameter("p", None, "The probability that a reader continues to the next rank.", required=True, below=1.0),
        Parameter("normalize", True, "Whether to divide by the overlap of the ideal with itself."),
    ),
    aliases={"compatibility": {}},
    example="Compat(p=0.95)",
)
