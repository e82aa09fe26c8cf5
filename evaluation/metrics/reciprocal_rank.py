"""How far down must one read to meet the first relevant document?"""

from __future__ import annotations

from evaluation.metrics.declaration import JUDGED_ONLY, REL, Metric
from evaluation.metrics.judged_ranking import JudgedRanking


def reciprocal_rank(ranking: JudgedRanking, cutoff: int | None = None, rel: float = 1) -> float:
    """Compute one over the rank of the first relevant document.

    Parameters
    ----------
    ranking : JudgedRanking
        Where the judged documents stand.
    cutoff : int, optional
        The last rank that counts.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float
        Between 0 and 1; 0 where no relevant document stands within the cutoff.

    Examples
    --------
    >>> from evaluation.metrics.judged_ranking import JudgedRanking
    >>> reciprocal_rank(JudgedRanking(4, [1, 4], [0, 2], [2, 0]))
    0.25
    """
    for rank, grade in zip(ranking.ranks, ranking.grades, strict=True):
        if cutoff is not None and rank > cutoff:
            break
        if grade >= rel:
            return 1.0 / rank
    return 0.0


RR = Metric(
    name="RR",
    title="Reciprocal rank",
    description="How early the first relevant document comes; its mean over queries is known as MRR.",
    formula="1 / rank of the first relevant document, 0 if there is none within k.",
    source="TREC-8 question answering track (Voorhees 1999); trec_eval's recip_rank.",
    per_query=reciprocal_rank,
    parameters=(REL, JUDGED_ONLY),
    aliases={"mrr": {}, "recip_rank": {}},
    trec_name="recip_rank",
)
