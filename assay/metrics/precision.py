"""Precision: the share of the top ranks with a relevant document."""

from __future__ import annotations

from assay.metrics.grade_response import Additive, Response, reaching, share_of_ranks
from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import JUDGED_ONLY, REL, Metric


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
    >>> from assay.metrics.judged_rankings import Floats, JudgedRankings
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
