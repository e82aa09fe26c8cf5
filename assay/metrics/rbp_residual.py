"""Residual of rank-biased precision: how far it could rise if all documents were judged."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings
from assay.metrics.metric import Metric, Parameter


def rank_biased_residual(rankings: JudgedRankings, cutoff: int | None = None, *, p: float) -> Floats:
    """Compute the weight of all ranks whose documents are not judged.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank to include; all deeper ranks are unknown.
    p : float
        The probability of continuing to the next document, above 0 and below 1.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1: RBP is between its value and its value plus this. All ranks below the list are unknown, so a
        short list has a residual even if all its documents are judged, and an empty list has 1. A negative grade counts
        as unjudged.

    Examples
    --------
    >>> rank_biased_residual(JudgedRankings.of((3, {1: 1, 2: 0, 3: 1}, [1, 1, 0])), p=0.8).round(4)
    array([0.512])
    """
    known = weight_of(rankings.ranks, p)
    return np.maximum(1.0 - rankings.total(known, (rankings.grades >= 0) & rankings.within(cutoff)), 0.0)


def weight_of(ranks: Integers, p: float) -> Floats:
    """Compute the weight of ranks: the probability that a reader views them, times 1 - p so that the weights sum to
    1."""
    weights: Floats = (1.0 - p) * np.power(p, (ranks - 1).astype(np.float64))
    return weights


P = Parameter(
    "p", None, "The probability that a reader continues to the next document.", required=True, below=1.0,
    trec=lambda p: f"_p={p}",
)  # fmt: skip

RBP_RESIDUAL = Metric(
    name="RBPresid",
    title="Residual of rank-biased precision",
    description="How much RBP could rise if all unjudged documents were relevant; the smaller it is, the more "
    "certain RBP is.",
    formula="(1 - p) times the sum of p^(i-1) over the ranks i of unjudged documents, plus p^n for all ranks below "
    "the n documents returned.",
    source="Moffat and Zobel 2008. trec_eval 10's rbp_resid leaves out p^n if every returned document is judged.",
    per_query=rank_biased_residual,
    parameters=(P,),
    example="RBPresid(p=0.8)",
)
