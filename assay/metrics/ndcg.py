"""Normalized discounted cumulative gain (nDCG): DCG divided by the DCG of the ideal ranking."""

from __future__ import annotations

import numpy as np

from assay.metrics.dcg import GAIN, GAINS, dcg, discount, gain_of, gained
from assay.metrics.grade_response import Additive, Response, nothing
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, share
from assay.metrics.metric import JUDGED_ONLY, Metric


def ndcg(rankings: JudgedRankings, cutoff: int | None = None, gain: str = "linear", gains: str | None = None) -> Floats:
    """Compute the normalized discounted cumulative gain.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts, for the run and the ideal.
    gain : {"linear", "exp"}
        The gain of a grade g: g, or 2^g - 1.
    gains : str, optional
        Gains of specific grades, such as ``"{1:3,2:9}"``. `gain` determines the gain of other grades; the ideal is
        sorted by gain.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if no document has a positive gain. The ideal ranking contains all judged documents for the
        query, returned or not. Without a cutoff it is not truncated, so a short run cannot reach 1.

    Examples
    --------
    >>> rankings = JudgedRankings.of((3, {1: 3, 2: 0, 3: 1}, [3, 2, 1, 0, 0]))
    >>> ndcg(rankings, cutoff=3).round(4)
    array([0.735])
    """
    place = rankings.judged_place
    best = gained(rankings.judged, gain, gains)
    if gains is not None:
        best = best[np.lexsort((-best, rankings.judged_query))]
    ideal = rankings.judged_total(best / np.log2(place + 1), None if cutoff is None else place <= cutoff)
    return share(dcg(rankings, cutoff, gain, gains), ideal)


def _best(counts: Integers, cutoff: int | None, **_: object) -> Floats:
    """Compute the value of this many documents with a gain of 1 in the best order."""
    ranks = np.arange(1, int(counts.max(initial=0)) + 1)
    ideal: Floats = np.concatenate(([0.0], np.cumsum(discount(ranks, cutoff))))[counts]
    return ideal


NDCG = Metric(
    name="nDCG",
    title="Normalized discounted cumulative gain",
    description="How close the ranking is to the ideal ranking; high grades at the top count most.",
    formula="DCG@k / IDCG@k; DCG = sum over ranks i of gain(g_i) / log2(i + 1); IDCG is the DCG of all judged "
    "documents for the query, sorted by gain. 0 if no gain is positive.",
    source="Järvelin and Kekäläinen 2002; the discount of trec_eval's ndcg_cut. gain=exp: Burges and others 2005.",
    per_query=ndcg,
    parameters=(GAIN, GAINS, JUDGED_ONLY),
    aliases={"ndcg_cut": {}, "ndcg_burges": {"gain": "exp"}, "ndcg_exp": {"gain": "exp"}},
    trec_name="ndcg",
    trec_name_at="ndcg_cut_{k}",
    response=Response("promoted", Additive(gain_of, discount, base=nothing, ideal=_best)),
)
