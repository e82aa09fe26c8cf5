"""Set recall: the share of the query's relevant documents that the run returns at any rank."""

from __future__ import annotations

from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import REL, Metric
from assay.metrics.metric_bounds import Response


def set_recall(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Compute the share of the query's relevant documents that is returned at any rank.

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
        Between 0 and 1; 0 if the query has no relevant document.

    Examples
    --------
    >>> set_recall(JudgedRankings.of((4, {1: 1, 3: 0}, [1, 1, 0])))
    array([0.5])
    """
    return share(rankings.relevant_within(None, rel), rankings.relevant(rel))


SET_RECALL = Metric(
    name="SetR",
    title="Recall of the set",
    description="The share of the known relevant documents that are returned; an upper bound for any re-ranking.",
    formula="relevant documents returned / R; 0 if R is 0.",
    source="Cleverdon 1967; trec_eval's set_recall.",
    per_query=set_recall,
    cutoff="none",
    parameters=(REL,),
    aliases={"set_r": {}, "set_recall": {}},
    trec_name="set_recall",
    response=Response("rising"),
)
