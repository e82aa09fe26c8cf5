"""Dawid-Skene label rule: the most probable true grade, with an error matrix estimated for each rater."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.aggregation.label_rule import Floats, Ints, Rule, Verdicts, Votes

SMOOTHING = 0.01
TOLERANCE = 1e-6
MOST_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """Fitted Dawid-Skene model."""

    posterior: Floats
    confusion: Floats
    prior: Floats
    rounds: int


def dawid_skene(
    unit: Ints, rater: Ints, codes: Ints, size: int, *, smoothing: float = SMOOTHING, tolerance: float = TOLERANCE
) -> DawidSkene:
    """Fit a confusion matrix to each rater and the true grade to each unit, by expectation maximization.

    Parameters
    ----------
    unit, rater, codes : int64 array, shape (rows,)
        The unit, the rater, and the position of the grade on the scale. A rater may grade a unit several times.
    size : int
        Number of grades on the scale.
    smoothing : float
        Added to each cell of the confusion matrices, so that no probability is 0.
    tolerance : float
        Stop when the log-likelihood changes by less than this share.

    Returns
    -------
    DawidSkene
        Starts from the share of votes, so the result does not depend on random choices. Treats grades as unordered.
        Useful with five or more grades per unit. Source: Dawid and Skene 1979, Applied Statistics 28, 20.

    Examples
    --------
    >>> import numpy as np
    >>> unit, rater = np.repeat([0, 1, 2, 3], 3), np.tile([0, 1, 2], 4)
    >>> dawid_skene(unit, rater, np.array([0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0]), 2).posterior.argmax(axis=1).tolist()
    [0, 1, 0, 1]
    """
    units, raters = int(unit.max()) + 1, int(rater.max()) + 1
    posterior = np.bincount(unit * size + codes, minlength=units * size).reshape(units, size).astype(np.float64)
    posterior /= posterior.sum(axis=1, keepdims=True)
    before, rounds = -np.inf, 0
    while rounds < MOST_ROUNDS:
        rounds += 1
        prior = posterior.mean(axis=0)
        confusion = _confusion(posterior[unit], rater, codes, raters, size, smoothing)
        with np.errstate(divide="ignore"):
            log_likelihood = np.log(confusion)[rater, :, codes]
            logs = np.tile(np.log(prior), (units, 1))
        np.add.at(logs, unit, log_likelihood)
        peak = logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs - peak)
        whole = posterior.sum(axis=1, keepdims=True)
        posterior /= whole
        likelihood = float((peak + np.log(whole)).sum())
        if abs(likelihood - before) <= tolerance * abs(likelihood):
            break
        before = likelihood
    return DawidSkene(posterior, confusion, prior, rounds)


def _confusion(shares: Floats, rater: Ints, codes: Ints, raters: int, size: int, smoothing: float) -> Floats:
    table = np.full((raters, size, size), smoothing)
    for true in range(size):
        given = np.bincount(rater * size + codes, weights=shares[:, true], minlength=raters * size)
        table[:, true, :] += given.reshape(raters, size)
    total = table.sum(axis=2, keepdims=True)
    shares_given: Floats = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    return shares_given


def _settle(votes: Votes) -> Verdicts:
    size = len(votes.values)
    posterior = dawid_skene(votes.ratings.unit, votes.ratings.rater, votes.codes, size).posterior
    # Values that differ only by rounding are equal, so that the result does not depend on the order of a sum.
    near = posterior >= posterior.max(axis=1, keepdims=True) - 1e-9
    return Verdicts(votes.values[near.argmax(axis=1)], near.sum(axis=1) > 1)


DAWID_SKENE = Rule(
    name="dawid-skene",
    title="Dawid-Skene",
    description="The most probable grade, given each rater's systematic errors; for five or more ratings per pair.",
    formula=(
        "expectation maximization over the true grades and one confusion matrix per rater; the most probable "
        "grade, or the lower grade in a tie"
    ),
    settle=_settle,
)
