"""Metrics that count the documents in the top ranks: precision, recall, success, reciprocal rank and share judged."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, share
from assay.metrics.metric import JUDGED_ONLY, REL, Metric
from assay.metrics.metric_bounds import Additive, Response, nothing, reaching, share_of_ranks, within


def precision(rankings: JudgedRankings, cutoff: int, rel: float = 1) -> Floats:
    """Compute the share of the top `cutoff` ranks with a relevant document.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int
        The number of ranks; also the divisor if fewer documents were returned.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1.

    Examples
    --------
    >>> precision(JudgedRankings.of((2, {1: 1}, [1, 1])), cutoff=10)
    array([0.1])
    """
    return rankings.relevant_within(cutoff, rel) / cutoff


P = Metric(
    name="P",
    title="Precision",
    description="The share of the top k documents that are relevant.",
    formula="relevant documents in the top k / k, even if fewer than k are returned.",
    source="Cleverdon 1967; trec_eval's P.",
    per_query=precision,
    cutoff="required",
    parameters=(REL, JUDGED_ONLY),
    aliases={"precision": {}, "prec": {}},
    trec_name_at="P_{k}",
    response=Response("rising", Additive(reaching, share_of_ranks)),
)


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


def success(rankings: JudgedRankings, cutoff: int, rel: float = 1) -> Floats:
    """Return whether a relevant document is in the top `cutoff`.

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
        1 or 0.

    Examples
    --------
    >>> success(JudgedRankings.of((9, {6: 1}, [1])), cutoff=5)
    array([0.])
    """
    return (rankings.relevant_within(cutoff, rel) > 0).astype(np.float64)


SUCCESS = Metric(
    name="Success",
    title="Success",
    description="The share of queries with a relevant document in the top k.",
    formula="1 if a relevant document is in the top k, otherwise 0.",
    source="trec_eval's success; known as hit rate elsewhere.",
    per_query=success,
    cutoff="required",
    parameters=(REL, JUDGED_ONLY),
    aliases={"hitrate": {}, "hit_rate": {}, "hit": {}},
    trec_name_at="success_{k}",
    response=Response("first"),
)


def reciprocal_rank(rankings: JudgedRankings, cutoff: int | None = None, rel: float = 1) -> Floats:
    """Compute one over the rank of the first relevant document.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if there is no relevant document within the cutoff.

    Examples
    --------
    >>> reciprocal_rank(JudgedRankings.of((4, {1: 0, 4: 2}, [2, 0])))
    array([0.25])
    """
    relevant = (rankings.grades >= rel) & rankings.within(cutoff)
    return rankings.total(1.0 / rankings.ranks, relevant & (rankings.running(relevant) == 1))


RR = Metric(
    name="RR",
    title="Reciprocal rank",
    description="The reciprocal rank of the first relevant document; its mean over queries is known as MRR.",
    formula="1 / rank of the first relevant document, 0 if there is none within k.",
    source="TREC-8 question answering track (Voorhees 1999); trec_eval's recip_rank.",
    per_query=reciprocal_rank,
    parameters=(REL, JUDGED_ONLY),
    aliases={"mrr": {}, "recip_rank": {}},
    trec_name="recip_rank",
    response=Response("first"),
)


def judged(rankings: JudgedRankings, cutoff: int | None = None) -> Floats:
    """Compute the share of the returned documents that have a judgment.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1. The divisor is the number of documents returned within the cutoff, so a short list is not
        penalized; trec_eval's ``unj`` divides by the cutoff and is therefore not one minus this value. A negative grade
        is a judgment.

    Examples
    --------
    >>> judged(JudgedRankings.of((2, {1: 1}, [1, 1])), cutoff=10)
    array([0.5])
    """
    depth = rankings.returned if cutoff is None else np.minimum(rankings.returned, cutoff)
    return share(rankings.count(rankings.within(cutoff)), depth)


JUDGED = Metric(
    name="Judged",
    title="Share judged",
    description="The share of the returned documents that are judged; read it together with every other metric.",
    formula="judged documents in the top k / min(k, n), where n is the number of documents returned; 0 if "
    "nothing is returned.",
    source="Judged@k of ir_measures, with trec_eval's order of tied documents.",
    per_query=judged,
)
