"""Bounds of a metric: its lowest and highest value if all documents that the run returned were judged. Each unjudged
document within the metric's cutoff may independently get any grade of the scale. Documents that the run did not
return keep their labels. The bounds are exact, that is, attained by some set of grades.
"""

from __future__ import annotations

import numpy as np

from assay.metrics.grade_response import Additive, Response, reaching
from assay.metrics.hypothetical_grades import Grading, graded
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings
from assay.metrics.metric import BoundMetric
from assay.metrics.ratio_bound import at_the_top, largest, steps
from assay.metrics.unjudged_ranks import Holes, from_below, holes, with_none

Range = tuple[Floats, Floats]

MOST_GRADES = 100


def scale_grades(top: float) -> Floats:
    """Return the possible grades above 0: the whole numbers up to the top, and the top itself. If no grade is above 0,
    the top is 1. A top above 100 does not belong to a human scale (clicks, for example); then a document gets the top
    or nothing.

    Examples
    --------
    >>> scale_grades(3).tolist(), scale_grades(0.75).tolist()
    ([1.0, 2.0, 3.0], [0.75])
    """
    top = top if top > 0 else 1.0
    if top > MOST_GRADES:
        return np.array([top])
    whole = np.arange(1.0, np.floor(top) + 1.0)
    return whole if top in whole[-1:] else np.append(whole, top)


def bounds(metric: BoundMetric, rankings: JudgedRankings, values: Floats, grades: Floats) -> Range | None:
    """Compute the lowest and the highest value of a metric for every query.

    Parameters
    ----------
    metric : BoundMetric
        The metric with its cutoff; without a cutoff, the depth is the number of returned documents.
    rankings : JudgedRankings
        The queries.
    values : float64 array, shape (queries,)
        The current values of the metric.
    grades : float64 array
        The possible grades above 0, ascending; the last is at least the largest label.

    Returns
    -------
    (float64 array, float64 array) or None
        None for metrics of which it is not known how they answer a new grade, and over condensed lists.

    Notes
    -----
    Rising metrics are lowest with every unjudged document at 0 and highest with every one at the top. For AP and Rprec,
    with a given number of documents made relevant, the value is highest if they are the first unjudged ones and lowest
    if they are the last: all numbers are tried (`assay.metrics.average_precision_bounds`). For nDCG see
    `assay.metrics.ratio_bound`. RBP uses its residual for the upper bound, which also counts documents that were not
    returned.

    Examples
    --------
    >>> from assay.metrics.metric_names import parse_metric
    >>> rankings = JudgedRankings.of((3, {1: 1.0}, [1.0]))
    >>> ap = parse_metric("AP")
    >>> [one.round(4).tolist() for one in bounds(ap, rankings, ap(rankings), np.array([1.0]))]
    [[0.8333], [1.0]]
    """
    response = metric.response
    if response is None:
        return None
    arguments = metric.arguments
    grades = allowed(metric, grades)
    if response.unknown is not None:
        return values, values + response.unknown(rankings, metric.cutoff, **arguments)
    if response.shape == "promoted":
        low, high = _promoted(metric, response, rankings, grades)
        # The current value, with every unjudged document at 0, is between the bounds, except for rounding.
        return np.minimum(low, values), np.maximum(high, values)
    if response.additive is not None:
        return values, _added(metric, response.additive, rankings, grades)
    if response.shape == "first":
        return values, np.maximum(values, metric(_first_alone(metric, rankings, float(grades[-1]))))
    return values, _all_at_the_top(metric, rankings, float(grades[-1]))


def bounds_beside(
    metric: BoundMetric, rankings: JudgedRankings, values: Floats, grades: Floats, further: Integers
) -> Range | None:
    """Compute limits if further documents that the run did not return may also be judged.

    They raise the ideal. The limits hold for any grades of these documents, but may not be attained.
    """
    alone = bounds(metric, rankings, values, grades)
    response = metric.response
    if alone is None or response is None or not further.any():
        return alone
    if response.outside is not None:
        return response.outside(*alone, rankings.relevant(float(metric.arguments.get("rel") or 1)), further)
    query = np.repeat(np.arange(rankings.queries), further)
    top = allowed(metric, grades)[-1]
    all_judged = graded(rankings, Grading(query, np.zeros_like(query), np.full(len(query), top)))
    low, _ = bounds(metric, all_judged, metric(all_judged), grades) or alone
    return np.minimum(low, alone[0]), alone[1]


def allowed(metric: BoundMetric, grades: Floats) -> Floats:
    """Return the grades that the metric accepts: none above the top of the scale in its name."""
    top = metric.arguments.get("max_rel")
    if top is None or grades[-1] <= float(top):
        return grades
    return np.append(grades[grades < float(top)], float(top))


def _first_alone(metric: BoundMetric, rankings: JudgedRankings, top: float) -> JudgedRankings:
    """Return the value with only the first unjudged document of each query judged, at the top grade."""
    ranks = np.zeros(rankings.queries, dtype=np.int64)
    for block in holes(rankings, metric.cutoff):  # type: ignore[arg-type]
        some = block.open.any(axis=1)
        ranks[block.places[some]] = block.open[some].argmax(axis=1) + 1
    offsets = np.concatenate(([0], np.cumsum(ranks > 0)))
    grades = np.full(int(offsets[-1]), top)
    return JudgedRankings(rankings.returned, offsets, ranks[ranks > 0], grades, grades, offsets)


def _all_at_the_top(metric: BoundMetric, rankings: JudgedRankings, top: float) -> Floats:
    """Return the value with every unjudged document at the top grade, in blocks of queries."""
    high = np.zeros(rankings.queries)
    for block in holes(rankings, metric.cutoff):  # type: ignore[arg-type]
        rows, columns = np.nonzero(block.open)
        new = Grading(rows, columns + 1, np.full(len(rows), top))
        high[block.places] = metric(graded(block.rankings, new))
    return high


def _added(metric: BoundMetric, additive: Additive, rankings: JudgedRankings, grades: Floats) -> Floats:
    """Return the value of a rising sum with every unjudged document at the top."""
    arguments = metric.arguments
    high = np.zeros(rankings.queries)
    for block in holes(rankings, metric.cutoff):  # type: ignore[arg-type]
        weight = additive.weight(block.ranks, metric.cutoff, **arguments)
        counts = block.open.sum(axis=1, keepdims=True)
        stair = steps(metric, additive, block.rankings, counts, grades)
        high[block.places] = at_the_top(_sum(metric, additive, block), (block.open @ weight)[:, np.newaxis], stair)[
            :, 0
        ]
    return high


def _promoted(metric: BoundMetric, response: Response, rankings: JudgedRankings, grades: Floats) -> Range:
    low, high = np.zeros(rankings.queries), np.zeros(rankings.queries)
    if response.additive is not None:
        for block in holes(rankings, metric.cutoff):  # type: ignore[arg-type]
            low[block.places], high[block.places] = _share(metric, response.additive, block, grades)
    elif response.bounds is not None and not len(relevant_grades(metric, grades)):
        low = high = metric(rankings)
    elif response.bounds is not None:
        cut = rankings if metric.cutoff is None else rankings.cut(int(metric.cutoff))
        low, high = response.bounds(cut, **metric.arguments)
    return low, high


def relevant_grades(metric: BoundMetric, grades: Floats) -> Floats:
    """Return the grades that matter for a metric of relevant documents: the lowest relevant grade, if any."""
    return grades[reaching(grades, float(metric.arguments.get("rel") or 1)) > 0][:1]


def _sum(metric: BoundMetric, additive: Additive, block: Holes) -> Floats:
    """Return the sum of the judged documents that were returned."""
    arguments, of = metric.arguments, block.rankings
    gains = additive.gain(of.grades, **arguments) * additive.weight(of.ranks, metric.cutoff, **arguments)
    return of.total(gains)


def _share(metric: BoundMetric, additive: Additive, block: Holes, grades: Floats) -> Range:
    """Return the range of a sum divided by an ideal, with grades descending for the highest and ascending for the
    lowest value."""
    arguments = metric.arguments
    weights = block.open * additive.weight(block.ranks, metric.cutoff, **arguments)
    start = _sum(metric, additive, block)
    first, last = with_none(np.cumsum(weights, axis=1)), with_none(from_below(weights))
    counts = with_none(block.seen), with_none(from_below(block.open.astype(np.int64)))
    high, _ = largest(start, first, steps(metric, additive, block.rankings, counts[0], grades))
    lowest = at_the_top(start, last, steps(metric, additive, block.rankings, counts[1], grades))
    return lowest.min(axis=1), high
