"""Rank-biased precision (RBP): the gain of a reader who continues with a fixed probability."""

from __future__ import annotations

from assay.core.errors import NotValid
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings
from assay.metrics.metric import REL, Metric, Parameter
from assay.metrics.metric_bounds import Additive, Response, labels, reaching, within
from assay.metrics.rbp_residual import P, rank_biased_residual, weight_of


def rank_biased_precision(
    rankings: JudgedRankings, cutoff: int | None = None, *, p: float, rel: float = 1, max_rel: float | None = None
) -> Floats:
    """Compute the rank-biased precision: the gain of a reader who leaves after each document.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts.
    p : float
        The probability of continuing to the next document, above 0 and below 1.
    rel : float
        The lowest grade that is relevant; ignored if `max_rel` is given.
    max_rel : float, optional
        The top grade of the scale; if set, the gain of a grade g is g / max_rel instead of 0 or 1.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1. Unjudged documents and negative grades gain 0; RBPresid measures the possible effect.

    Raises
    ------
    NotValid
        When a grade is above `max_rel`.

    Examples
    --------
    >>> rankings = JudgedRankings.of((3, {1: 3, 2: 0, 3: 1}, [3, 1, 0]))
    >>> rank_biased_precision(rankings, p=0.8), rank_biased_precision(rankings, p=0.8, max_rel=3).round(4)
    (array([0.328]), array([0.2427]))
    """
    weights = weight_of(rankings.ranks, p)
    if max_rel is None:
        return rankings.total(weights, (rankings.grades >= rel) & rankings.within(cutoff))
    if len(rankings.judged) and rankings.judged.max() > max_rel:
        raise NotValid(
            f"max_rel={max_rel:g} is the top of the scale for RBP, but a label has the grade "
            f"{rankings.judged.max():g}; write max_rel={rankings.judged.max():g} or more"
        )
    return rankings.total(weights * rankings.grades / max_rel, (rankings.grades > 0) & rankings.within(cutoff))


def _gain(grades: Floats, rel: float = 1, max_rel: float | None = None, **_: object) -> Floats:
    return reaching(grades, rel) if max_rel is None else labels(grades) / max_rel


def _patience(ranks: Integers, cutoff: int | None, p: float, **_: object) -> Floats:
    return within(ranks, cutoff) * (1.0 - p) * p ** (ranks - 1.0)


def _residual(rankings: JudgedRankings, cutoff: int | None, p: float, **_: object) -> Floats:
    return rank_biased_residual(rankings, cutoff, p=p)


RBP = Metric(
    name="RBP",
    title="Rank-biased precision",
    description="The gain of a reader who continues to the next document with probability p; always set p.",
    formula="(1 - p) times the sum over ranks i of p^(i-1) * gain; the gain is 1 for a relevant document, or "
    "g_i / max_rel if max_rel is set.",
    source="Moffat and Zobel 2008; trec_eval 10's rbp if all grades are 0 or 1.",
    per_query=rank_biased_precision,
    parameters=(
        P,
        REL,
        Parameter(
            "max_rel",
            None,
            "The top grade of the scale; if set, the gain of a grade g is g / max_rel instead of 0 or 1.",
        ),
    ),
    trec_name="rbp",
    example="RBP(p=0.8)",
    response=Response("rising", Additive(_gain, _patience), unknown=_residual),
)
