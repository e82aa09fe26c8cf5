"""Recall: the share of the query's relevant documents in the top ranks."""

from __future__ import annotations

import numpy as np

from assay.metrics.grade_response import Additive, Response, nothing, reaching, within
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, share
from assay.metrics.metric import JUDGED_ONLY, REL, Metric


def recall(rankings: JudgedRankings, cutoff: int, rel: float = 1) -> Floats:
    """Compute the share of the query's relevant documents that are in the top `cutoff`.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int
        The number of ranks.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if the query has no relevant document.

    Examples
    --------
    >>> from assay.metrics.judged_rankings import Floats, JudgedRankings, share
    >>> recall(JudgedRankings.of((2, {1: 1}, [1, 1])), cutoff=100)
    array([0.5])
    """
    return share(rankings.relevant_within(cutoff, rel), rankings.relevant(rel))


def _all(counts: Integers, cutoff: int, **_: object) -> Floats:
    return counts.astype(np.float64)


R = Metric(
    name="R",
    title="Recall",
    description="The share of the known relevant documents in the top k.",
    formula="relevant documents in the top k / R, where R is the number of all relevant documents for the "
    "query; 0 if R is 0.",
    source="Cleverdon 1967; trec_eval's recall.",
    per_query=recall,
    cutoff="required",
    parameters=(REL, JUDGED_ONLY),
    aliases={"recall": {}},
    trec_name_at="recall_{k}",
    response=Response("rising", Additive(reaching, within, base=nothing, ideal=_all)),
)
