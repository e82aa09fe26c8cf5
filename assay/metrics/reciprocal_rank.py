"""Reciprocal rank (RR): one over the rank of the first relevant document."""

from __future__ import annotations

from assay.metrics.grade_response import Response
from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import JUDGED_ONLY, REL, Metric


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
