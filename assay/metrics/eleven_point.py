"""11-point average: the mean of interpolated precision over the eleven standard recall levels."""

from __future__ import annotations

import numpy as np

from assay.metrics.interpolated_precision import CUT, interpolated_precision
from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import REL, Metric

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def eleven_point_average(rankings: JudgedRankings, cutoff: None = None, rel: float = 1, cut: str = "ceil") -> Floats:
    """Compute the mean of the interpolated precisions at recall 0, 0.1, ..., 1.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None
        Not used.
    rel : float
        The lowest grade that is relevant.
    cut : {"ceil", "nearest"}
        As in `interpolated_precision`.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if nothing relevant is returned.

    Examples
    --------
    >>> eleven_point_average(JudgedRankings.of((4, {1: 1, 4: 1}, [1, 1]))).round(4)
    array([0.7727])
    """
    total = np.zeros(rankings.queries, dtype=np.float64)
    for level in LEVELS:
        total += interpolated_precision(rankings, level, rel, cut)
    return total / len(LEVELS)


ELEVEN_POINT = Metric(
    name="11pt_avg",
    title="Eleven-point average precision",
    description="The mean of interpolated precision at recall 0, 0.1, ..., 1; the classic summary of a "
    "precision-recall curve.",
    formula="the mean of IPrec@0.0, IPrec@0.1, ..., IPrec@1.0.",
    source="Salton and McGill 1983; trec_eval 9's 11pt_avg.",
    per_query=eleven_point_average,
    cutoff="none",
    parameters=(REL, CUT),
    trec_name="11pt_avg",
)
