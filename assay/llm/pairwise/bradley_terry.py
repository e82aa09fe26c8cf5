"""Bradley-Terry scores of documents from battles.

In the model, the second document is preferred with probability ``sigmoid(score of the second - score of the first)``.
Scores are natural logarithms with mean 0 within a query: they rank its documents and cannot be compared across queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import NotValid
from assay.llm.pairwise.battles import Battles, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# A prior as wide as the typical spread of scores: one log unit.
PRIOR = 1.0
STEPS = 100
TOLERANCE = 1e-9
# Up to this many documents the dense matrix is solved; above that, few battles per document make it sparse.
WHOLE = 200


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted scores of a query's documents."""

    scores: Floats
    steps: int
    converged: bool


def fit(battles: Battles, *, prior: float = PRIOR) -> Fit:
    """Find the most probable scores under a Gaussian prior, by Newton's method on the edge list.

    Examples
    --------
    >>> found = fit(Battles.of(3, [(0, 1, 2 / 3), (1, 2, 1 / 3), (2, 0, 1), (0, 2, 1 / 3)]))
    >>> found.scores.round(6).tolist()
    [0.204699, 0.192843, -0.397542]
    """
    if not prior > 0:
        raise NotValid(f"the prior's precision is {prior:g}; use a number above 0")
    scores = np.zeros(battles.documents)
    for step in range(1, STEPS + 1):
        gradient, diagonal, off = _slopes(battles, scores, prior)
        change = _solve(battles, diagonal, off, gradient)
        scores += change
        if not len(change) or np.abs(change).max() < TOLERANCE:
            return Fit(scores - (scores.mean() if len(scores) else 0.0), step, True)
    return Fit(scores - scores.mean(), STEPS, False)


def standard_errors(battles: Battles, fit: Fit, *, prior: float = PRIOR) -> Floats:
    """Return the standard error of each score, from the curvature at the fit."""
    return np.sqrt(np.diag(covariance(battles, fit, prior=prior)))


def covariance(battles: Battles, fit: Fit, *, prior: float = PRIOR) -> Floats:
    """Return the inverse curvature at the fit, shape (documents, documents)."""
    from scipy.linalg import cho_factor, cho_solve

    _, diagonal, off = _slopes(battles, fit.scores, prior)
    factor = cho_factor(_whole(battles, diagonal, off), lower=True)
    return np.asarray(cho_solve(factor, np.eye(battles.documents)))


def next_pairs(battles: Battles, fit: Fit, most: int, *, prior: float = PRIOR) -> list[tuple[int, int, float]]:
    """Return the pairs whose comparison would reduce the uncertainty of the scores most."""
    spread = covariance(battles, fit, prior=prior)
    variances = np.diag(spread)
    apart = variances[:, None] + variances[None, :] - 2 * spread
    p = _sigmoid(fit.scores[None, :] - fit.scores[:, None])
    worth = np.triu(p * (1 - p) * apart, 1)
    worth[np.minimum(battles.first, battles.second), np.maximum(battles.first, battles.second)] = 0.0
    order = np.argsort(-worth, axis=None, kind="stable")[: max(0, most)]
    places = zip(*np.unravel_index(order, worth.shape), strict=True)
    return [(int(a), int(b), float(worth[a, b])) for a, b in places if worth[a, b] > 0]


def fit_as_zbench(battles: Battles, *, tolerance: float = 1e-4, most: int = 1_000) -> Fit:
    """Compute scores as zbench does: a damped fixed-point iteration, stopped when the loss changes little."""
    i, j, s, n = battles.first, battles.second, battles.share, battles.documents
    w = battles.weight
    scores = np.zeros(n)
    before: float | None = None
    for step in range(most):
        p = _sigmoid(scores[j] - scores[i])
        # Each document also has a battle with itself with one half each way: 0.5 * sigmoid(0) on both sides, which
        # cancels.
        won = np.bincount(j, w * s * (1 - p), n) + np.bincount(i, w * (1 - s) * p, n) + 0.25
        lost = np.bincount(j, w * (1 - s) * p, n) + np.bincount(i, w * s * (1 - p), n) + 0.25
        scores = scores + (np.log(won) - np.log(lost)) * (1 + step) ** -0.125
        scores -= scores.mean()
        apart = scores[j] - scores[i]
        loss = float((w * (s * np.logaddexp(0, -apart) + (1 - s) * np.logaddexp(0, apart))).sum())
        if step >= 2 and before is not None and abs(before - loss) < tolerance:
            return Fit(scores, step + 1, True)
        before = loss
    return Fit(scores, most, False)


def _sigmoid(values: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(values))


def _slopes(battles: Battles, scores: Floats, prior: float) -> tuple[Floats, Floats, Floats]:
    """Return the gradient, and the curvature as its diagonal and a value for each battle."""
    i, j, n = battles.first, battles.second, battles.documents
    p = _sigmoid(scores[j] - scores[i])
    rest = battles.weight * (battles.share - p)
    curved = battles.weight * p * (1 - p)
    gradient = np.bincount(j, rest, n) - np.bincount(i, rest, n) - prior * scores
    diagonal = np.asarray(np.bincount(i, curved, n) + np.bincount(j, curved, n) + prior, dtype=np.float64)
    return gradient, diagonal, curved


def _solve(battles: Battles, diagonal: Floats, off: Floats, gradient: Floats) -> Floats:
    if battles.documents <= WHOLE:
        from scipy.linalg import cho_factor, cho_solve

        return np.asarray(cho_solve(cho_factor(_whole(battles, diagonal, off), lower=True), gradient))
    from scipy.sparse import diags
    from scipy.sparse.linalg import cg

    scale: Any = diags(1 / diagonal)
    change, _ = cg(_sparse(battles, diagonal, off), gradient, rtol=1e-12, M=scale)
    return np.asarray(change)


def _whole(battles: Battles, diagonal: Floats, off: Floats) -> Floats:
    matrix = np.diag(diagonal)
    np.subtract.at(matrix, (battles.first, battles.second), off)
    np.subtract.at(matrix, (battles.second, battles.first), off)
    return matrix


def _sparse(battles: Battles, diagonal: Floats, off: Floats) -> csr_matrix:
    from scipy.sparse import coo_matrix

    every = np.arange(battles.documents)
    rows = np.concatenate([every, battles.first, battles.second])
    columns = np.concatenate([every, battles.second, battles.first])
    shape = (battles.documents, battles.documents)
    return coo_matrix((np.concatenate([diagonal, -off, -off]), (rows, columns)), shape=shape).tocsr()
