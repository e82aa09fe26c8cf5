"""Expected reciprocal rank (ERR): a reader is more likely to stop at a document with a higher grade."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings, power_of_two
from assay.metrics.metric import Metric, Parameter
from assay.metrics.metric_bounds import Response


def expected_reciprocal_rank(rankings: JudgedRankings, cutoff: int | None = None, max_rel: float = 1) -> Floats:
    """Compute the expected value of 1 / rank of the document at which the reader stops.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts.
    max_rel : float
        The top grade of the scale, in the same unit as the grades.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1, but never 1: the best document satisfies the reader with probability 1 - 2^-max_rel. Unjudged
        documents and negative grades never satisfy the reader. 0 if no document has a positive grade.

    Raises
    ------
    NotValid
        When a grade is above `max_rel`, because its probability would exceed 1, or `max_rel` is above 1,000.

    Examples
    --------
    >>> rankings = JudgedRankings.of((3, {1: 2, 2: 3}, [3, 2, 0]))
    >>> expected_reciprocal_rank(rankings, cutoff=10, max_rel=3)
    array([0.6484375])
    """
    rankings.refuse_above(max_rel)
    whole = power_of_two(np.array([max_rel], dtype=np.float64))
    satisfied = (power_of_two(np.maximum(rankings.grades, 0.0)) - 1.0) / whole
    reached = rankings.above(np.multiply, 1.0 - satisfied)
    return rankings.total(satisfied * reached / rankings.ranks, rankings.within(cutoff))


ERR = Metric(
    name="ERR",
    title="Expected reciprocal rank",
    description="The expected 1 / rank at which a reader stops; a higher grade makes stopping more likely.",
    formula="sum over ranks i of S_i / i times the product of (1 - S_j) over the ranks j above i; S = (2^g - 1) / "
    "2^max_rel. A grade above max_rel is an error; 0 if no grade is positive.",
    source="Chapelle, Metzler, Zhang and Grinspan 2009. gdeval and ir_measures fix max_rel at 4.",
    per_query=expected_reciprocal_rank,
    parameters=(Parameter("max_rel", None, "The top grade of the scale; by default the highest grade of the qrels."),),
    scale_top="max_rel",
    response=Response("rising"),
)
