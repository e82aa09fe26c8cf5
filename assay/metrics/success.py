"""Success: whether a relevant document is in the top ranks."""

from __future__ import annotations

import numpy as np

from assay.metrics.grade_response import Response
from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import JUDGED_ONLY, REL, Metric


def success(rankings: JudgedRankings, cutoff: int, rel: float = 1) -> Floats:
    """Return whether a relevant document is in the top `cutoff`.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int
        The number of ranks.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        1 or 0.

    Examples
    --------
    >>> from assay.metrics.judged_rankings import Floats, JudgedRankings
    >>> success(JudgedRankings.of((9, {6: 1}, [1])), cutoff=5)
    array([0.])
    """
    return (rankings.relevant_within(cutoff, rel) > 0).astype(np.float64)


SUCCESS = Metric(
    name="Success",
    title="Success",
    description="The share of queries with a relevant document in the top k.",
    formula="1 if a relevant document is in the top k, otherwise 0.",
    source="trec_eval's success; known as hit rate elsewhere.",
    per_query=success,
    cutoff="required",
    parameters=(REL, JUDGED_ONLY),
    aliases={"hitrate": {}, "hit_rate": {}, "hit": {}},
    trec_name_at="success_{k}",
    response=Response("first"),
)
