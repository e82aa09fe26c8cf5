"""Counts: queries, returned documents, relevant documents, and relevant documents returned."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import REL, Metric


def one_each(rankings: JudgedRankings, cutoff: None = None) -> Floats:
    """Return 1 for each query, so that the sum is the number of queries that count.

    Examples
    --------
    >>> one_each(JudgedRankings.of((4, {1: 1}, [1]), (0, {}, [1])))
    array([1., 1.])
    """
    return np.ones(rankings.queries)


def returned(rankings: JudgedRankings, cutoff: None = None) -> Floats:
    """Count the documents that the run returns for each query, judged or not.

    Examples
    --------
    >>> returned(JudgedRankings.of((4, {1: 1}, [1])))
    array([4.])
    """
    return rankings.returned.astype(np.float64)


def relevant(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Count the relevant documents of each query, those with a grade of at least `rel`, returned or not.

    Examples
    --------
    >>> relevant(JudgedRankings.of((4, {1: 1}, [2, 1, 0])))
    array([2.])
    """
    return rankings.relevant(rel).astype(np.float64)


def relevant_returned(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Count the relevant documents, those with a grade of at least `rel`, that the run returns for each query.

    Examples
    --------
    >>> relevant_returned(JudgedRankings.of((4, {1: 1}, [2, 1, 0])))
    array([1.])
    """
    return rankings.relevant_within(None, rel).astype(np.float64)


NUM_Q = Metric(
    name="NumQ",
    bounded=False,
    title="Number of queries",
    description="The number of queries; with `--missing skip`, only those that the run answers.",
    formula="1.",
    source="trec_eval's num_q.",
    per_query=one_each,
    cutoff="none",
    aliases={"num_q": {}},
    trec_name="num_q",
    mean="sum",
)

NUM_RET = Metric(
    name="NumRet",
    bounded=False,
    title="Number of documents returned",
    description="The number of documents that the run returns.",
    formula="documents returned, judged or not.",
    source="trec_eval's num_ret.",
    per_query=returned,
    cutoff="none",
    aliases={"num_ret": {}},
    trec_name="num_ret",
    mean="sum",
)

NUM_REL = Metric(
    name="NumRel",
    bounded=False,
    title="Number of relevant documents",
    description="The number of relevant documents, including those for queries that the run does not answer.",
    formula="R.",
    source="trec_eval's num_rel.",
    per_query=relevant,
    cutoff="none",
    parameters=(REL,),
    aliases={"num_rel": {}},
    trec_name="num_rel",
    mean="sum",
)

NUM_REL_RET = Metric(
    name="NumRelRet",
    bounded=False,
    title="Number of relevant documents returned",
    description="The number of relevant documents that the run returns.",
    formula="relevant documents returned.",
    source="trec_eval's num_rel_ret.",
    per_query=relevant_returned,
    cutoff="none",
    parameters=(REL,),
    aliases={"num_rel_ret": {}},
    trec_name="num_rel_ret",
    mean="sum",
)
