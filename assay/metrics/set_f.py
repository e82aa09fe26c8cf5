"""Set F: the weighted harmonic mean of precision and recall of the returned set."""

from __future__ import annotations

from assay.metrics.f_score import BETA, f_of
from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import REL, Metric
from assay.metrics.metric_bounds import Response


def set_f(rankings: JudgedRankings, cutoff: None = None, rel: float = 1, beta: float = 1) -> Floats:
    """Compute the weighted harmonic mean of precision and recall of the returned set.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None
        Not used.
    rel : float
        The lowest grade that is relevant.
    beta : float
        Recall counts beta times as much as precision.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if nothing relevant is returned.

    Examples
    --------
    >>> set_f(JudgedRankings.of((4, {1: 1, 3: 0}, [1, 1, 0]))).round(4)
    array([0.3333])
    """
    return f_of(rankings.relevant_within(None, rel), rankings.returned, rankings.relevant(rel), beta)


SET_F = Metric(
    name="SetF",
    title="F score of the set",
    description="The harmonic mean of precision and recall of all returned documents.",
    formula="(1 + beta^2) * SetP * SetR / (beta^2 * SetP + SetR); 0 if nothing relevant is returned.",
    source="Van Rijsbergen 1979, chapter 7; trec_eval's set_F, whose parameter is beta^2.",
    per_query=set_f,
    cutoff="none",
    parameters=(REL, BETA),
    aliases={"set_f": {}},
    trec_name="set_F",
    response=Response("rising"),
)
