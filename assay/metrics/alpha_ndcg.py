"""alpha-nDCG: coverage of a query's subtopics, with less gain each time a subtopic is repeated."""

from __future__ import annotations

import math

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import REL, Metric, Parameter


def alpha_ndcg(rankings: JudgedRankings, cutoff: int, alpha: float = 0.5, rel: float = 1) -> Floats:
    """Compute the normalized discounted cumulative gain of the novelty of each document.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query, with their grades by subtopic.
    cutoff : int
        The number of ranks, for the run and the ideal.
    alpha : float
        The penalty for repeated subtopics: each further document adds 1 - alpha times the gain of the previous
        document.
    rel : float
        The lowest grade that is relevant for a subtopic; higher grades do not count more.

    Returns
    -------
    float64 array, shape (queries,)
        0 if no document is relevant for any subtopic. The ideal is the greedy ranking of
        `JudgedSubtopics.ideal_gains`, as in ndeval; because it may not be the best ranking, a value can be slightly
        above 1.

    Raises
    ------
    NotValid
        When the labels have no subtopics.

    Examples
    --------
    >>> from assay.metrics.judged_rankings import match
    >>> from assay.core import Qrels, Run
    >>> qrels = Qrels.from_subtopics([("q1", "a", "d1", 1), ("q1", "a", "d2", 1), ("q1", "b", "d3", 1)])
    >>> alpha_ndcg(match(qrels, Run.from_dict({"q1": {"d1": 3, "d2": 2, "d3": 1}}, "r")).rankings, cutoff=2).round(4)
    array([0.8066])
    """
    subtopics = rankings.by_subtopic
    gains = subtopics.gains(len(rankings.ranks), alpha, rel)
    discounted = rankings.total(gains / np.log2(rankings.ranks + 1), rankings.within(cutoff))
    best = subtopics.ideal_gains(rankings.queries, cutoff, alpha, rel)
    return share(discounted, best @ (1.0 / np.log2(np.arange(2, cutoff + 2))))


def _from_0_to_1(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise ValueError(f"must be a number from 0 to 1, not {text!r}")
    return int(value) if value.is_integer() else value


ALPHA_NDCG = Metric(
    name="alpha_nDCG",
    title="nDCG with novelty and diversity",
    description="How well the ranking covers the subtopics of the query; each repetition of a subtopic counts less.",
    formula="alpha-DCG@k / ideal alpha-DCG@k; alpha-DCG = sum over ranks i of gain_i / log2(i + 1); gain_i = sum "
    "over the subtopics that the document is relevant to of (1 - alpha)^(number of documents above that are relevant "
    "to it). At each rank, the ideal ranking takes the document with the largest gain, or with the largest id in a "
    "tie. 0 if no document is relevant.",
    source="Clarke and others 2008; the greedy ideal of ndeval, the program of the TREC Web Track.",
    per_query=alpha_ndcg,
    cutoff="required",
    parameters=(
        Parameter(
            "alpha",
            0.5,
            "The share of a subtopic's remaining gain that each relevant document uses up.",
            read=_from_0_to_1,
        ),
        REL,
    ),
    aliases={"alpha-ndcg": {}, "andcg": {}},
    by_subtopic=True,
)
