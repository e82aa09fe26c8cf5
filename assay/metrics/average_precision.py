"""Average precision (AP): the mean of the precision at the rank of each relevant document."""

from __future__ import annotations

from assay.metrics.average_precision_bounds import average_precision_bounds
from assay.metrics.grade_response import Response
from assay.metrics.judged_rankings import Floats, JudgedRankings, share
from assay.metrics.metric import JUDGED_ONLY, REL, Metric


def average_precision(rankings: JudgedRankings, cutoff: int | None = None, rel: float = 1) -> Floats:
    """Compute the mean over all relevant documents of the precision at their ranks.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts. The divisor is still R, the number of all relevant documents of the query.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; a relevant document that is not returned adds 0; 0 if the query has none.

    Examples
    --------
    >>> average_precision(JudgedRankings.of((4, {2: 1, 4: 1}, [1, 1])))
    array([0.5])
    """
    relevant = (rankings.grades >= rel) & rankings.within(cutoff)
    return share(rankings.total(rankings.running(relevant) / rankings.ranks, relevant), rankings.relevant(rel))


AP = Metric(
    name="AP",
    title="Average precision",
    description="Precision at every relevant document, averaged over all relevant documents; its mean is known as MAP.",
    formula="1/R times the sum, over ranks i with a relevant document, of (relevant documents in ranks 1 to i) / i. "
    "R counts all relevant documents of the query, also for AP@k; 0 where R is 0.",
    source="Harman 1992 (TREC-1); trec_eval's map and map_cut.",
    per_query=average_precision,
    parameters=(REL, JUDGED_ONLY),
    aliases={"map": {}, "map_cut": {}},
    trec_name="map",
    trec_name_at="map_cut_{k}",
    example="AP",
    response=Response("promoted", bounds=average_precision_bounds),
)
