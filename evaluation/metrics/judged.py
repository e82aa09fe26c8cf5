"""How much of what a run returns has been judged at all?"""

from __future__ import annotations

from evaluation.metrics.declaration import Metric
from evaluation.metrics.judged_ranking import JudgedRanking


def judged(ranking: JudgedRanking, cutoff: int | None = None) -> float:
    """Compute the share of the returned documents that have a judgment.

    Parameters
    ----------
    ranking : JudgedRanking
        Where the judged documents stand.
    cutoff : int, optional
        The last rank that counts.

    Returns
    -------
    float
        Between 0 and 1. The divisor is what was returned within the cutoff, so a short list is not punished;
        trec_eval's ``unj`` divides by the cutoff and is not one minus this. A negative grade is a judgment.

    Examples
    --------
    >>> from evaluation.metrics.judged_ranking import JudgedRanking
    >>> judged(JudgedRanking(2, [1], [1], [1, 1]), cutoff=10)
    0.5
    """
    depth = ranking.returned if cutoff is None else min(cutoff, ranking.returned)
    return ranking.judged_within(depth) / depth if depth else 0.0


JUDGED = Metric(
    name="Judged",
    title="Share judged",
    description="Which share of the returned documents was judged; read it beside every other metric.",
    formula="judged documents in the top k / min(k, n), n = documents returned; 0 where nothing is returned.",
    source="Judged@k of ir_measures, with trec_eval's order of tied documents.",
    per_query=judged,
)
