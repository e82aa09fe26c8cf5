"""Precision, recall and F of the returned set."""

from __future__ import annotations

from assay.metrics.f_score import BETA, f_of
from assay.metrics.grade_response import Response
from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import REL, Metric


def set_recall(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Compute the share of the query's relevant documents that is returned at any rank.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None Not used.
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
    description="The share of the known relevant documents that is returned; an upper bound for any re-ranking.",
    formula="relevant documents returned / R; 0 where R is 0.",
    source="Cleverdon 1967; trec_eval's set_recall.",
    per_query=set_recall,
    cutoff="none",
    parameters=(REL,),
    aliases={"set_r": {}, "set_recall": {}},
    trec_name="set_recall",
    response=Response("rising"),
)


def set_precision(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Compute the share of the returned documents that is relevant, regardless of their order.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None Not used.
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
    description="The share of all returned documents that is relevant; for engines that return a set.",
    formula="relevant documents returned / documents returned; 0 where nothing is returned.",
    source="Cleverdon 1967; trec_eval's set_P.",
    per_query=set_precision,
    cutoff="none",
    parameters=(REL,),
    aliases={"set_p": {}},
    trec_name="set_P",
    response=Response("rising"),
)


def set_f(rankings: JudgedRankings, cutoff: None = None, rel: float = 1, beta: float = 1) -> Floats:
    """Compute the weighted harmonic mean of precision and recall of the returned set.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None Not used.
    rel : float
        The lowest grade that is relevant.
    beta : float
        Recall has beta times the weight of precision.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if nothing relevant is returned.

    Examples
    --------
    >>> set_f(JudgedRankings.of((4, {1: 1, 3: 0}, [1, 1, 0]))).round(4)
    array([0.3333])
    """
    return f_of(rankings.relevant_within(None, rel), rankings.returned, rankings.relevant(rel), beta)


SET_F = Metric(
    name="SetF",
    title="F score of the set",
    description="The harmonic mean of precision and recall of all returned documents.",
    formula="(1 + beta^2) * SetP * SetR / (beta^2 * SetP + SetR); 0 where nothing relevant is returned.",
    source="Van Rijsbergen 1979, chapter 7; trec_eval's set_F, whose parameter is beta^2.",
    per_query=set_f,
    cutoff="none",
    parameters=(REL, BETA),
    aliases={"set_f": {}},
    trec_name="set_F",
    response=Response("rising"),
)
