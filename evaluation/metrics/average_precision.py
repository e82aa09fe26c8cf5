"""How precise is the ranking at each rank that brings a relevant document?"""

from __future__ import annotations

from evaluation.metrics.declaration import JUDGED_ONLY, REL, Metric
from evaluation.metrics.judged_ranking import JudgedRanking


def average_precision(ranking: JudgedRanking, cutoff: int | None = None, rel: float = 1) -> float:
    """Compute the mean over all relevant documents of the precision at their ranks.

    Parameters
    ----------
    ranking : JudgedRanking
        Where the judged documents stand.
    cutoff : int, optional
        The last rank that counts. The divisor stays R, all relevant documents of the query.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float
        Between 0 and 1; a relevant document that is not returned adds 0; 0 where the query has none.

    Examples
    --------
    >>> from evaluation.metrics.judged_ranking import JudgedRanking
    >>> average_precision(JudgedRanking(4, [2, 4], [1, 1], [1, 1]))
    0.5
    """
    found, total = 0, 0.0
    for rank, grade in zip(ranking.ranks, ranking.grades, strict=True):
        if cutoff is not None and rank > cutoff:
            break
        if grade >= rel:
            found += 1
            total += found / rank
    return total / ranking.relevant(rel) if found else 0.0


AP = Metric(
    name="AP",
    title="Average precision",
    description="Precision at every relevant document, averaged over all relevant ones; its mean is known as MAP.",
    formula="1/R times the sum, over ranks i with a relevant document, of (relevant documents in ranks 1 to i) / i. "
    "R counts all relevant documents of the query, also for AP@k; 0 where R is 0.",
    source="Harman 1992 (TREC-1); trec_eval's map and map_cut.",
    per_query=average_precision,
    parameters=(REL, JUDGED_ONLY),
    aliases={"map": {}, "map_cut": {}},
    trec_name="map",
    trec_name_at="map_cut_{k}",
)
