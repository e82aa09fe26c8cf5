"""R-precision: the precision at rank R, the number of relevant documents for the query."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, share
from assay.metrics.metric import JUDGED_ONLY, REL, Metric
from assay.metrics.metric_bounds import Holes, Response, from_below, holes, with_none


def r_precision(rankings: JudgedRankings, cutoff: None = None, rel: float = 1) -> Floats:
    """Compute the precision at rank R, the number of relevant documents for the query.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None
        Not used: the query's own R is the cutoff.
    rel : float
        The lowest grade that is relevant.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; divides by R even if fewer documents are returned; 0 if R is 0.

    Examples
    --------
    >>> from assay.metrics.judged_rankings import Floats, JudgedRankings, share
    >>> r_precision(JudgedRankings.of((4, {1: 1, 4: 1}, [1, 1])))
    array([0.5])
    """
    relevant = rankings.relevant(rel)
    return share(rankings.relevant_within(relevant, rel), relevant)


def r_precision_bounds(rankings: JudgedRankings, rel: float = 1, **_: object) -> tuple[Floats, Floats]:
    """Compute the lowest and the highest value over all numbers of last or first unjudged documents that may be
    relevant.
    """
    low, high = np.zeros(rankings.queries), np.zeros(rankings.queries)
    for block in holes(rankings, None):
        low[block.places] = _r_precisions(block, rel, first=False).min(axis=1)
        high[block.places] = _r_precisions(block, rel, first=True).max(axis=1)
    return low, high


def _r_precisions(block: Holes, rel: float, *, first: bool) -> Floats:
    """Return Rprec for each column if the unjudged documents down to it, or from it on, are relevant."""
    known = block.rankings.relevant(rel)[:, np.newaxis]
    relevant = with_none(np.cumsum(block.spread(block.rankings.grades >= rel), axis=1))
    seen = with_none(block.seen)
    made = seen if first else with_none(from_below(block.open.astype(np.int64)))
    depth = np.minimum(known + made, block.depth)
    inside = np.take_along_axis(seen, depth, axis=1)
    of_made = np.minimum(made, inside) if first else np.maximum(inside - (seen[:, -1:] - made), 0)
    value: Floats = np.zeros(made.shape)
    np.divide(np.take_along_axis(relevant, depth, axis=1) + of_made, known + made, out=value, where=known + made > 0)
    return value


def r_precision_outside(low: Floats, high: Floats, relevant: Integers, further: Integers) -> tuple[Floats, Floats]:
    """Return bounds if up to this many further relevant documents, which the run did not return, raise R. Each of
    them lowers the cutoff by one rank, which adds at most one relevant document.
    """
    least = np.maximum(relevant, 1)
    hits = high * relevant + further
    total = relevant + further
    return low * least / (least + further), np.divide(hits, total, out=high.copy(), where=further > 0)


RPREC = Metric(
    name="Rprec",
    title="R-precision",
    description="Precision at rank R, where R is the number of relevant documents for the query.",
    formula="relevant documents in the top R / R; 0 if R is 0.",
    source="TREC; trec_eval's Rprec.",
    per_query=r_precision,
    cutoff="none",
    parameters=(REL, JUDGED_ONLY),
    aliases={"r-precision": {}},
    trec_name="Rprec",
    response=Response("promoted", bounds=r_precision_bounds, outside=r_precision_outside),
)
