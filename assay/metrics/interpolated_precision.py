"""Interpolated precision: the highest precision at any rank that reaches a given recall level."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, JudgedRankings
from assay.metrics.metric import REL, Metric, Parameter

# Amount added to the needed number of documents before rounding down.
RAISED = {"ceil": 0.9, "nearest": 0.5}


def interpolated_precision(rankings: JudgedRankings, level: float, rel: float = 1, cut: str = "ceil") -> Floats:
    """Compute the highest precision at any rank where at least a share `level` of the relevant documents is found.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    level : float
        The share of the query's relevant documents, between 0 and 1.
    rel : float
        The lowest grade that is relevant.
    cut : {"ceil", "nearest"}
        How to round ``level * R`` to a whole number of documents: floor(x + 0.9), or floor(x + 0.5).

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if this number of relevant documents is never reached.

    Examples
    --------
    >>> rankings = JudgedRankings.of((5, {1: 1, 4: 1, 5: 1}, [1, 1, 1]))
    >>> interpolated_precision(rankings, 0.4), interpolated_precision(rankings, 0.4, cut="nearest")
    (array([0.6]), array([1.]))
    """
    relevant = rankings.grades >= rel
    hits = rankings.running(relevant)
    needed = np.floor(level * rankings.relevant(rel) + RAISED[cut])
    # Precision only decreases between relevant documents, so its maximum is at a relevant document.
    return rankings.largest(hits / rankings.ranks, relevant & (hits >= needed[rankings.query]))


CUT = Parameter(
    "cut",
    "ceil",
    "How the level times R is rounded to a number of documents: `ceil` is floor(x + 0.9), as in trec_eval 9, "
    "pytrec_eval and ir_measures; `nearest` is floor(x + 0.5), as in trec_eval 10.",
    choices=tuple(RAISED),
)

IPREC = Metric(
    name="IPrec",
    title="Interpolated precision",
    description="The best precision at or below the rank at which the given share of the relevant documents is found.",
    formula="the largest (relevant documents at ranks 1 to i) / i, over all ranks i by which at least floor(r * "
    "R + 0.9) relevant documents are found; 0 if fewer are found.",
    source="Salton and McGill 1983; trec_eval 9's iprec_at_recall.",
    per_query=interpolated_precision,
    cutoff="level",
    parameters=(REL, CUT),
    aliases={"iprec_at_recall": {}},
    trec_name_at="iprec_at_recall_{k:.2f}",
    example="IPrec@0.1",
)
