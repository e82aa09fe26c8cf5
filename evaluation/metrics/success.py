"""Is there anything relevant at the top?"""

from __future__ import annotations

from evaluation.metrics.declaration import JUDGED_ONLY, REL, Metric
from evaluation.metrics.judged_ranking import JudgedRanking


def success(ranking: JudgedRanking, cutoff: int, rel: float = 1) -> float:
    """Say whether a relevant document stands in the top `cutoff`.

    Parameters
    ----------
    ranking : JudgedRanking
        Where the judged documents stand.
    cutoff : int
        The number of ranks.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float
        1 or 0.

    Examples
    --------
    >>> from evaluation.metrics.judged_ranking import JudgedRanking
    >>> success(JudgedRanking(9, [6], [1], [1]), cutoff=5)
    0.0
    """
    return float(ranking.relevant_within(cutoff, rel) > 0)


SUCCESS = Metric(
    name="Success",
    title="Success",
    description="For which share of the queries the top k holds anything relevant.",
    formula="1 if a relevant document stands in the top k, else 0.",
    source="trec_eval's success; known as hit rate elsewhere.",
    per_query=success,
    cutoff="required",
    parameters=(REL, JUDGED_ONLY),
    aliases={"hitrate": {}, "hit_rate": {}, "hit": {}},
    trec_name_at="success_{k}",
)
