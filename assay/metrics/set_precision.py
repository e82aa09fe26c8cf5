"""Set precision: the share of all returned documents that is relevant."""

from __future__ import annotations

from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import REL, Metric
from assay.metrics.metric_bounds import Response


def set_precision(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Compute the share of the returned documents that is relevant, regardless of their order.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None
        Not used.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if nothing is returned.

    Examples
    --------
    >>> set_precision(JudgedRankings.of((4, {1: 1, 3: 0}, [1, 1, 0])))
    array([0.25])
    """
    return share(rankings.relevant_within(None, rel), rankings.returned)


SET_PRECISION = Metric(
    name="SetP",
    title="Precision of the set",
    description="The share of all returned documents that are relevant; for engines that return a set.",
    formula="relevant documents returned / documents returned; 0 if nothing is returned.",
    source="Cleverdon 1967; trec_eval's set_P.",
    per_query=set_precision,
    cutoff="none",
    parameters=(REL,),
    aliases={"set_p": {}},
    trec_name="set_P",
    response=Response("rising"),
)
