"""Bpref: how often relevant documents rank above documents judged not relevant."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import REL, Metric


def bpref(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Compute the preference of relevant over judged not relevant documents.

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
        Between 0 and 1; 0 if the query has no relevant document. Unjudged documents and negative grades are ignored. If
        no document is judged not relevant, each returned relevant document counts as 1.

    Examples
    --------
    >>> bpref(JudgedRankings.of((6, {1: 0, 2: 1, 4: 0, 5: 1, 6: 0}, [1, 1, 0, 0, 0])))
    array([0.25])
    """
    relevant, other = rankings.grades >= rel, (rankings.grades >= 0) & (rankings.grades < rel)
    total, others = rankings.relevant(rel), rankings.judged_not_relevant(rel)
    above, limit = rankings.running(other), np.minimum(total, others)
    # Documents can be above only if documents are judged not relevant, so the divisor is 0 only if it is not used.
    shares = np.minimum(above, total[rankings.query]) / np.maximum(limit, 1)[rankings.query]
    return share(rankings.total(1.0 - shares, relevant), total)


BPREF = Metric(
    name="Bpref",
    title="Binary preference",
    description="How often relevant documents rank above those judged not relevant; unjudged documents are ignored.",
    formula="1/R times the sum over returned relevant documents of 1 - min(A, R) / min(N, R): N is the number "
    "of documents judged not relevant (grade from 0 to below rel), and A is the number of these that rank "
    "above. The term is 1 if A is 0; the value is 0 if R is 0.",
    source="Buckley and Voorhees 2004; trec_eval's bpref.",
    per_query=bpref,
    cutoff="none",
    parameters=(REL,),
    trec_name="bpref",
)
