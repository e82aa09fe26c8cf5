"""Mean label of the top ranks, for labels that may be fractions."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import Metric
from assay.metrics.metric_bounds import Additive, Response, labels, share_of_ranks


def mean_label(rankings: JudgedRankings, cutoff: int) -> Floats:
    """Compute the mean label of the top `cutoff` ranks.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int
        The number of ranks; also the divisor if fewer documents were returned, as in precision.

    Returns
    -------
    float64 array, shape (queries,)
        In the unit of the labels: between 0 and 1 if the labels are. Unjudged documents, empty ranks and negative
        labels count as 0.

    Notes
    -----
    With labels of 0 and 1 this is ``P@k``. Salemi and Zamani (2024) use it if a document's label measures how well the
    generator answers from that document alone: precision is then the mean of the labels. They divide by k, the length
    of their lists; here a shorter list is also divided by k, so that a system cannot gain by returning less.

    Examples
    --------
    >>> mean_label(JudgedRankings.of((3, {1: 0.75, 3: 0.25}, [0.75, 0.5, 0.25])), cutoff=4)
    array([0.25])
    """
    return rankings.total(np.maximum(rankings.grades, 0.0), rankings.within(cutoff)) / cutoff


MEAN_LABEL = Metric(
    name="MeanLabel",
    bounded=False,
    title="Mean label",
    description="The mean of the labels in the top k; precision for fractional labels.",
    formula="sum of the labels in the top k / k, even if fewer than k are returned; unjudged documents count as 0.",
    source="Salemi and Zamani 2024 (eRAG), precision for non-binary labels.",
    per_query=mean_label,
    cutoff="required",
    aliases={"mean_label": {}},
    response=Response("rising", Additive(labels, share_of_ranks)),
)
