"""How precise is the ranking at the depth at which it could be perfect?"""

from __future__ import annotations

from evaluation.metrics.declaration import JUDGED_ONLY, REL, Metric
from evaluation.metrics.judged_ranking import JudgedRanking


def r_precision(ranking: JudgedRanking, cutoff: None = None, rel: float = 1) -> float:
    """Compute the precision at rank R, R being the number of relevant documents of the query.

    Parameters
    ----------
    ranking : JudgedRanking
        Where the judged documents stand.
    cutoff : None
        Takes none: the query's own R is the cutoff.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float
        Between 0 and 1; divides by R also when fewer documents are returned; 0 where R is 0.

    Examples
    --------
    >>> from evaluation.metrics.judged_ranking import JudgedRanking
    >>> r_precision(JudgedRanking(4, [1, 4], [1, 1], [1, 1]))
    0.5
    """
    relevant = ranking.relevant(rel)
    return ranking.relevant_within(relevant, rel) / relevant if relevant else 0.0


RPREC = Metric(
    name="Rprec",
    title="R-precision",
    description="Precision at rank R, where R is the query's own number of relevant documents.",
    formula="relevant documents in the top R / R; 0 where R is 0.",
    source="TREC; trec_eval's Rprec.",
    per_query=r_precision,
    cutoff="none",
    parameters=(REL, JUDGED_ONLY),
    aliases={"r-precision": {}},
    trec_name="Rprec",
)
