"""Largest label in the top ranks, for labels that may be fractions."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import Metric
from assay.metrics.metric_bounds import Response


def max_label(rankings: JudgedRankings, cutoff: int) -> Floats:
    """Find the largest label in the top `cutoff` ranks.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int
        The number of ranks.

    Returns
    -------
    float64 array, shape (queries,)
        In the unit of the labels: between 0 and 1 if the labels are. 0 if no document in the top has a positive label.

    Notes
    -----
    With labels of 0 and 1 this is ``Success@k``. Salemi and Zamani (2024) use it as the hit ratio of labels that
    measure how well the generator answers from a single document.

    Examples
    --------
    >>> max_label(JudgedRankings.of((3, {1: 0.25, 3: 0.75}, [0.75, 0.25])), cutoff=2)
    array([0.25])
    """
    labels = np.zeros(rankings.queries, dtype=np.float64)
    within = rankings.within(cutoff)
    np.maximum.at(labels, rankings.query[within], rankings.grades[within])
    return labels


MAX_LABEL = Metric(
    name="MaxLabel",
    bounded=False,
    title="Largest label",
    description="The largest label in the top k; success for fractional labels.",
    formula="the largest label in the top k; unjudged documents count as 0.",
    source="Salemi and Zamani 2024 (eRAG), hit ratio for non-binary labels.",
    per_query=max_label,
    cutoff="required",
    aliases={"max_label": {}},
    response=Response("first"),
)
