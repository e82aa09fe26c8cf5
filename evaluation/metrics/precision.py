"""How much of what stands at the top is relevant?"""

from __future__ import annotations

from evaluation.metrics.declaration import JUDGED_ONLY, REL, Metric
from evaluation.metrics.judged_ranking import JudgedRanking


def precision(ranking: JudgedRanking, cutoff: int, rel: float = 1) -> float:
    """Compute the share of the top `cutoff` ranks that hold a relevant document.

    Parameters
    ----------
    ranking : JudgedRanking
        Where the judged documents stand.
    cutoff : int
        The number of ranks; also the divisor when fewer documents were returned.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from evaluation.metrics.judged_ranking import JudgedRanking
    >>> precision(JudgedRanking(2, [1], [1], [1, 1]), cutoff=10)
    0.1
    """
    return ranking.relevant_within(cutoff, rel) / cutoff


P = Metric(
    name="P",
    title="Precision",
    description="Which share of the top k documents is relevant.",
    formula="relevant documents in the top k / k, also when fewer than k are returned.",
    source="Cleverdon 1967; trec_eval's P.",
    per_query=precision,
    cutoff="required",
    parameters=(REL, JUDGED_ONLY),
    aliases={"precision": {}, "prec": {}},
    trec_name_at="P_{k}",
)
