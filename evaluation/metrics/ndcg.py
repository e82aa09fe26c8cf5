"""How near is the ranking to the best one that the judgments allow, when high grades and high ranks count most?"""

from __future__ import annotations

import math
from collections.abc import Iterable

from evaluation.metrics.declaration import JUDGED_ONLY, Metric, Parameter
from evaluation.metrics.judged_ranking import JudgedRanking


def ndcg(ranking: JudgedRanking, cutoff: int | None = None, gain: str = "linear") -> float:
    """Compute the normalized discounted cumulative gain of one query.

    Parameters
    ----------
    ranking : JudgedRanking
        Where the judged documents stand.
    cutoff : int, optional
        The last rank that counts, for the run and for the ideal alike.
    gain : {"linear", "exp"}
        A grade g gains g, or 2^g - 1.

    Returns
    -------
    float
        Between 0 and 1; 0 where no document has a positive grade. The ideal takes all judged documents of the query,
        returned or not; without a cutoff it is not cut, so a short run cannot reach 1.

    Examples
    --------
    >>> from evaluation.metrics.judged_ranking import JudgedRanking
    >>> round(ndcg(JudgedRanking(3, [1, 2, 3], [3, 0, 1], [3, 2, 1, 0, 0]), cutoff=3), 4)
    0.735
    """
    ideal = _discounted(enumerate(ranking.judged, 1), cutoff, gain)
    return _discounted(zip(ranking.ranks, ranking.grades, strict=True), cutoff, gain) / ideal if ideal > 0 else 0.0


def _discounted(ranked: Iterable[tuple[int, float]], cutoff: int | None, gain: str) -> float:
    total = 0.0
    for rank, grade in ranked:
        if cutoff is not None and rank > cutoff:
            break
        if grade > 0:
            total += (grade if gain == "linear" else 2.0**grade - 1.0) / math.log2(rank + 1)
    return total


GAIN = Parameter(
    "gain",
    "linear",
    "What a grade g gains: `linear` is g, `exp` is 2^g - 1.",
    choices=("linear", "exp"),
    also={"dcg=exp-log2": "exp", "dcg=log2": "linear"},
)

NDCG = Metric(
    name="nDCG",
    title="Normalized discounted cumulative gain",
    description="How near the ranking is to the best one that the judgments allow; high grades high up count most.",
    formula="DCG@k / IDCG@k; DCG = sum over ranks i of gain(g_i) / log2(i + 1); IDCG is the DCG of all judged "
    "documents of the query, sorted by grade. 0 where no grade is positive.",
    source="Järvelin and Kekäläinen 2002; the discount of trec_eval's ndcg_cut. gain=exp: Burges and others 2005.",
    per_query=ndcg,
    parameters=(GAIN, JUDGED_ONLY),
    aliases={"ndcg_cut": {}, "ndcg_burges": {"gain": "exp"}, "ndcg_exp": {"gain": "exp"}},
    trec_name="ndcg",
    trec_name_at="ndcg_cut_{k}",
)
