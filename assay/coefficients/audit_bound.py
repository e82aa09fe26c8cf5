"""Lower confidence limit of the share of correct grades among unreviewed pairs, from a random sample.

The sample is drawn from all pairs with equal probability, and the limit applies to the rest of the same pairs. It
is a sample from a finite population and the limit is exact: it assumes nothing about how the grades of one query
depend on each other, since it makes no claim about other queries. A sampled pair that people have not judged yet
counts as wrong. A limit read early, whatever the order in which the sample is judged, is therefore never above the
one read at the end, so looking often costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.core.errors import NotValid

# Over all judges that are tried in a round and all times that one is asked about.
ALPHA = 0.05


def right_outside(population: int, sampled: int, right: int, alpha: float) -> float | None:
    """Return the lower confidence limit of the share of correct grades outside the sample.

    Parameters
    ----------
    population, sampled : int
        How many there are, and how many of them were drawn at random.
    right : int
        How many of those drawn are known to be right.
    alpha : float
        The chance that the limit is too high, at most.

    Returns
    -------
    float or None
        From 0 to 1; None if nothing was drawn or nothing is left outside. Source: the limits of the hypergeometric
        distribution by inverting its test (Chung and DeLury 1950; Cochran 1977, Sampling Techniques, 3.6).

    Raises
    ------
    NotValid
        Numbers that contradict each other.

    Examples
    --------
    >>> round(right_outside(400, 100, 100, 0.025), 4), round(right_outside(400, 100, 95, 0.025), 4)
    (0.96, 0.88)
    >>> right_outside(10, 10, 9, 0.05) is None
    True
    """
    if not 0 <= right <= sampled <= population or not 0 < alpha < 1:
        raise NotValid(
            f"{right} of {sampled} of {population} at {alpha}: each is at most the next, alpha inside 0 to 1"
        )
    if not sampled or sampled == population:
        return None
    # The fewest right ones in all under which as many as were seen are not too surprising; more make it less so.
    low, high = right, population - (sampled - right)
    while low < high:
        middle = (low + high) // 2
        if _at_least(right, population, middle, sampled) > alpha:
            high = middle
        else:
            low = middle + 1
    return (low - right) / (population - sampled)


def _at_least(right: int, population: int, right_in_all: int, sampled: int) -> float:
    """Return the probability of at least so many correct grades in a sample: the upper hypergeometric tail.

    It is summed here because importing scipy.stats costs a page seconds.
    """
    from scipy.special import gammaln

    seen = np.arange(max(right, sampled - (population - right_in_all), 0), min(sampled, right_in_all) + 1)
    wrong = population - right_in_all

    def chosen(total: int, number: np.ndarray[Any, Any] | int) -> Any:
        return gammaln(total + 1) - gammaln(number + 1.0) - gammaln(total - number + 1.0)

    logs = chosen(right_in_all, seen) + chosen(wrong, sampled - seen) - chosen(population, sampled)
    return min(1.0, float(np.exp(logs).sum()))


def alpha_of(judge: int, look: int) -> float:
    """Return the part of `ALPHA` that one look at one judge uses.

    Parameters
    ----------
    judge : int
        The how manieth judge of the round it is, from 1.
    look : int
        The how manieth time it is asked about, from 1.

    Returns
    -------
    float
        ALPHA / (j (j + 1)) / 2^l: over all judges and looks that can ever be, these add up to `ALPHA`, so that no limit
        is too high more often than that however many are tried (Bonferroni, spent as Lan and DeMets 1983 propose).

    Examples
    --------
    >>> alpha_of(1, 1), round(sum(alpha_of(j, l) for j in range(1, 999) for l in range(1, 60)), 3)
    (0.0125, 0.05)
    """
    if judge < 1 or look < 1:
        raise NotValid("judges and looks are counted from 1")
    return ALPHA / (judge * (judge + 1)) / 2.0**look
