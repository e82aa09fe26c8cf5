"""ERR-IA: expected reciprocal rank, averaged over the subtopics of the query."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import REL, Metric

SATISFIED = 0.5


def err_ia(rankings: JudgedRankings, cutoff: int, rel: float = 1) -> Floats:
    """Compute the expected reciprocal rank, averaged over subtopics and normalized by its maximum for any query.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query, with their grades by subtopic.
    cutoff : int
        The number of ranks.
    rel : float
        The lowest grade that is relevant for a subtopic; higher grades do not count more.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 1 if each of the top documents is relevant to every subtopic. 0 if nothing is relevant.

    Raises
    ------
    NotValid
        When the labels have no subtopics.

    Notes
    -----
    ndeval omits the division at rank 1 and therefore prints a count of subtopics as ERR-IA@1; this function divides at
    every rank.

    Examples
    --------
    >>> from assay.metrics.judged_rankings import match
    >>> from assay.core import Qrels, Run
    >>> qrels = Qrels.from_subtopics([("q1", "a", "d1", 1), ("q1", "b", "d2", 1)])
    >>> err_ia(match(qrels, Run.from_dict({"q1": {"d1": 2, "d2": 1}}, "r")).rankings, cutoff=2)
    array([0.6])
    """
    subtopics = rankings.by_subtopic
    gains = subtopics.gains(len(rankings.ranks), 1.0 - SATISFIED, rel)
    ranks = np.arange(1, cutoff + 1)
    most = float(np.sum((1.0 - SATISFIED) ** (ranks - 1.0) / ranks))
    discounted = rankings.total(gains / rankings.ranks, rankings.within(cutoff))
    return share(discounted / most, subtopics.covered(rankings.queries, rel))


ERR_IA = Metric(
    name="ERR_IA",
    title="Intent-aware expected reciprocal rank",
    description="The expected 1 / rank at which a reader stops, averaged over the subtopics of the query.",
    formula="sum over ranks i of gain_i / i, divided by M times the sum over ranks i to k of (1/2)^(i-1) / i; gain_i "
    "= sum over the subtopics that the document is relevant to of (1/2)^(number of documents above that are relevant "
    "to it); M is the number of subtopics with a relevant document. 0 if M is 0.",
    source="Chapelle, Metzler, Zhang and Grinspan 2009; normalized as in ndeval, the program of the TREC Web Track.",
    per_query=err_ia,
    cutoff="required",
    parameters=(REL,),
    aliases={"err-ia": {}},
    by_subtopic=True,
)
