"""INST: expected gain per viewed document, for a reader with a target gain."""

from __future__ import annotations

import math

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import Metric, Parameter

CWL_DEPTH = 1000
# For trigamma: number of terms added individually, and the Bernoulli numbers B_2, B_4, ... of the following series.
ADDED = 9
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def inst(
    rankings: JudgedRankings,
    cutoff: None = None,
    T: float = 1,
    min_rel: float = 0,
    max_rel: float = 1,
    depth: int = CWL_DEPTH,
) -> Floats:
    """Compute the expected gain per viewed document.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None
        Not used: the reader decides when to stop.
    T : float
        The gain that the reader hopes for, in documents of the top grade.
    min_rel, max_rel : float
        The grades that gain 0 and 1; between them the gain is linear. Grades below `min_rel`, unjudged documents and
        ranks beyond the end of the run gain 0.
    depth : int
        Number of ranks; deeper ranks are ignored.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if no document with a gain is returned.

    Raises
    ------
    NotValid
        When a grade is above `max_rel`.

    Notes
    -----
    From rank i the reader continues with probability C_i = ((i + T + T_i - 1) / (i + T + T_i))^2, where T_i is T minus
    the gain of ranks 1 to i (Moffat, Bailey, Scholer and Thomas 2015). The weight of a rank is the probability of
    reaching it, the product of the C above it, divided by the sum of all these probabilities. The sum is infinite in
    the paper; cwl_eval, and therefore ir_measures, pads and cuts every ranking to 1,000 ranks, as `depth` does here:
    the infinite tail would lower a value by about 2 T / 1000 of it. Without gain T_i does not change, and the product
    telescopes: the probabilities between two judged documents sum to a difference of two trigamma values, so that only
    judged documents need to be visited.

    Examples
    --------
    >>> inst(JudgedRankings.of((3, {1: 1, 3: 1}, [1, 1]))).round(4)
    array([0.7233])
    """
    rankings.refuse_above(max_rel)
    top = rankings.cut(depth)
    # If no grade of the labels is above min_rel, the largest grade cannot be the top of the scale.
    gains = np.maximum(top.grades - min_rel, 0.0) / max(max_rel - min_rel, np.finfo(np.float64).tiny)
    above = top.above(np.add, gains)
    first = top.ranks == top.ranks[top.offsets[top.query]]
    # C_j = ((j + here - 1) / (j + here))^2 from this document to the next; `before` is the same for the document above.
    here, before = 2.0 * T - above - gains, 2.0 * T - above
    last_seen = np.where(first, 1, np.roll(top.ranks, 1))
    steps = ((last_seen + before - 1.0) / (top.ranks - 1.0 + before)) ** 2
    chances = top.above(np.multiply, steps) * steps
    last = np.append(first[1:], True)[: len(first)]
    ends = np.where(last, depth, np.roll(top.ranks, -1) - 1)
    looks = chances * (1.0 + (top.ranks + here - 1.0) ** 2 * (trigamma(top.ranks + here) - trigamma(ends + here)))
    lead = np.full(top.queries, depth)
    lead[top.query[first]] = top.ranks[first] - 1
    waiting = (2.0 * T / (np.arange(depth) + 2.0 * T)) ** 2
    leading = np.concatenate(([0.0], np.cumsum(waiting)))[lead]
    weighted: Floats = top.total(chances * gains) / (leading + top.total(looks))
    return weighted


def trigamma(x: Floats) -> Floats:
    """Compute the sum of 1 / (x + m)^2 over m = 0, 1, 2, ... for x above 0, to about 15 digits.

    scipy's ``zeta(2, x)`` would take longer than the rest of the metric. The first terms are added individually; the
    others follow from the asymptotic series with Bernoulli numbers (Abramowitz and Stegun 1964, 6.4.12).

    Examples
    --------
    >>> trigamma(np.array([1.0])) * 6 / np.pi**2
    array([1.])
    """
    y = x + ADDED
    square = 1.0 / (y * y)
    series = np.zeros_like(y)
    for number in reversed(BERNOULLI):
        series = (series + number) * square
    total = (1.0 + series) / y + square / 2.0
    for term in range(ADDED):
        total += 1.0 / (x + term) ** 2
    return total


def _at_least_0(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"must be a number of 0 or more, not {text!r}")
    return int(value) if value.is_integer() else value


INST = Metric(
    name="INST",
    title="Adaptive gain per document",
    description="The gain per document for a reader who wants T good documents and stops when they are found.",
    formula="sum of W_i gain_i; W_i is the probability of reaching rank i, divided by the sum of these probabilities "
    "over `depth` ranks. The reader continues from rank i with probability ((i + T + T_i - 1) / (i + T + T_i))^2, "
    "where T_i is T minus the gain at ranks 1 to i; gain = (g - min_rel) / (max_rel - min_rel), 0 for unjudged "
    "documents. A grade above max_rel is an error.",
    source="Moffat, Bailey, Scholer and Thomas 2015; 1,000 ranks as in cwl_eval.",
    per_query=inst,
    cutoff="none",
    parameters=(
        Parameter("T", 1, "The gain that the reader wants, in documents of the top grade."),
        Parameter("min_rel", 0, "The grade with a gain of 0.", read=_at_least_0),
        Parameter("max_rel", None, "The grade with a gain of 1; by default the highest grade of the qrels."),
        Parameter("depth", CWL_DEPTH, "The number of ranks to include."),
    ),
    scale_top="max_rel",
)
