"""How many of the relevant documents does the top of the ranking hold?"""

from __future__ import annotations

from evaluation.metrics.declaration import JUDGED_ONLY, REL, Metric
from evaluation.metrics.judged_ranking import JudgedRanking


def recall(ranking: JudgedRanking, cutoff: int, rel: float = 1) -> float:
    """Compute the share of the query's relevant documents that stand in the top `cutoff`.

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
        Between 0 and 1; 0 where the query has no relevant document.

    Examples
    --------
    >>> from evaluation.metrics.judged_ranking import JudgedRanking
    >>> recall(JudgedRanking(2, [1], [1], [1, 1]), cutoff=100)
    0.5
    """
    relevant = ranking.relevant(rel)
    return ranking.relevant_within(cutoff, rel) / relevant if relevant else 0.0


R = Metric(
    name="R",
    title="Recall",
    description="Which share of the known relevant documents the top k holds.",
    formula="relevant documents in the top k / R, where R counts all relevant documents of the query; 0 where R is 0.",
    source="Cleverdon 1967; trec_eval's recall.",
    per_query=recall,
    cutoff="required",
    parameters=(REL, JUDGED_ONLY),
    aliases={"recall": {}},
    trec_name_at="recall_{k}",
)
