"""Capped recall: relevant documents in the top ranks, divided by the maximum possible number."""

from __future__ import annotations

import numpy as np

from assay.metrics.grade_response import Response
from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import REL, Metric


def capped_recall(rankings: JudgedRankings, cutoff: int | None = None, rel: float = 1) -> Floats:
    """Compute recall with the divisor capped at the number of ranks.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The number of ranks; by default all returned documents.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if the query has no relevant document. A ranking with only relevant documents in its top
        `cutoff` gets 1, regardless of their total number.

    Examples
    --------
    >>> capped_recall(JudgedRankings.of((4, {1: 1, 3: 1}, [1, 1, 1, 1, 1])), cutoff=2)
    array([0.5])
    """
    depth = rankings.returned if cutoff is None else np.full(rankings.queries, cutoff)
    return share(rankings.relevant_within(cutoff, rel), np.minimum(depth, rankings.relevant(rel)))


CAPPED_RECALL = Metric(
    name="R-cap",
    title="Capped recall",
    description="Recall that can reach 1 even for a query with more than k relevant documents.",
    formula="relevant documents in the top k / min(k, R); without @k, k is the number of documents returned. 0 if R "
    "is 0.",
    source="R_cap@k of BEIR (Thakur and others 2021); trec_eval's relative_P and set_relative_P.",
    per_query=capped_recall,
    parameters=(REL,),
    aliases={"r_cap": {}, "recall_cap": {}, "relative_p": {}, "set_relative_p": {}},
    trec_name="set_relative_P",
    trec_name_at="relative_P_{k}",
    response=Response("rising"),
)
