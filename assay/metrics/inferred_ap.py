"""Inferred average precision (infAP): an estimate of AP when only a sample of the pool is judged."""

from __future__ import annotations

from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import REL, Metric

# Keeps the estimate defined if no document above is judged; trec_eval's value.
SMALL = 1e-5


def inferred_average_precision(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Compute average precision with the precision at each relevant document inferred from a sample.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None
        Not used.
    rel : float
        The lowest relevant grade; documents with a grade from 0 to below it are judged not relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if the query has no relevant document. A negative grade means that a document was in the pool
        but not in the sample; a document without a grade was not in the pool. If the whole pool is judged, the value
        equals average precision, up to 1e-5.

    Examples
    --------
    >>> inferred_average_precision(JudgedRankings.of((3, {1: -1, 2: 1, 3: -2}, [1, -1, -2])))
    array([0.75])
    """
    relevant, other = rankings.grades >= rel, (rankings.grades >= 0) & (rankings.grades < rel)
    hits, missed = rankings.running(relevant) - 1, rankings.running(other)
    pooled = hits + missed + rankings.running(rankings.grades < 0)
    above = pooled * (hits + SMALL) / (hits + missed + 2 * SMALL)
    return share(rankings.total((1.0 + above) / rankings.ranks, relevant), rankings.relevant(rel))


INFAP = Metric(
    name="infAP",
    title="Inferred average precision",
    description="Average precision, estimated from a judged sample of the pool; negative grades mark the rest "
    "of the pool.",
    formula="1/R times the sum over relevant documents at ranks i of 1/i + (i-1)/i * (r+u+s)/(i-1) * (r+e)/(r+s+2e); "
    "above rank i, r documents are relevant, s are judged not relevant, and u have a negative grade; e = "
    "0.00001. At rank 1 the term is 1. 0 if R is 0.",
    source="Yilmaz and Aslam 2006; trec_eval's infAP.",
    per_query=inferred_average_precision,
    cutoff="none",
    parameters=(REL,),
    trec_name="infAP",
)
