"""Lower confidence limit of the share of correct grades among unreviewed pairs, from a random sample.

The sample is drawn from all pairs with equal probability, and the limit applies to the rest of the same pairs. Because
this is a sample from a finite population, the limit is exact. It makes no assumption about the dependence of grades
within a query, since it makes no claim about other queries. A sampled pair that people have not judged yet counts as
wrong. A limit read early is therefore never above the final limit, regardless of the order of judging, so frequent
checks cost nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.core.errors import NotValid

# Over all judges of a round and all looks at each judge.
ALPHA = 0.05


def right_outside(population: int, sampled: int, right: int, alpha: float) -> float | None:
    """Return the lower confidence limit of the share of correct grades outside the sample.

    Parameters
    ----------
    population, sampled : int
        Number of pairs, and number of pairs drawn at random.
    right : int
        Number of drawn pairs known to be correct.
    alpha : float
        Maximum probability that the limit is too high.

    Returns
    -------
    float or None
        From 0 to 1; None if no pair was drawn or no pair is outside the sample. Source: the limits of the
        hypergeometric distribution by inverting its test (Chung and DeLury 1950; Cochran 1977, Sampling Techniques,
        3.6).

    Raises
    ------
    NotValid
        The numbers contradict each other.

    Examples
    --------
    >>> round(right_outside(400, 100, 100, 0.025), 4), round(right_outside(400, 100, 95, 0.025), 4)
    (0.96, 0.88)
    >>> right_outside(10, 10, 9, 0.05) is None
    True
    """
    if not 0 <= right <= sampled <= population or not 0 < alpha < 1:
        raise NotValid(
            f"{right} of {sampled} of {population} at {alpha}: each count must be at most the next, and alpha "
            "between 0 and 1"
        )
    if not sampled or sampled == population:
        return None
    # The smallest total of correct grades for which the observed number is not too unlikely; it is likelier for larger
    # totals.
    low, high = right, population - (sampled - right)
    while low < high:
        middle = (low + high) // 2
        if _at_least(right, population, middle, sampled) > alpha:
            high = middle
        else:
            low = middle + 1
    return (low - right) / (population - sampled)


def _at_least(right: int, population: int, right_in_all: int, sampled: int) -> float:
    """Return the probability of at least this many correct grades in a sample: the upper hypergeometric tail. It is
    computed here because importing scipy.stats would delay a page by seconds.
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
        Number of the judge in the round, from 1.
    look : int
        Number of the look at this judge, from 1.

    Returns
    -------
    float
        ALPHA / (j (j + 1)) / 2^l: over all possible judges and looks, these sum to at most `ALPHA`, which bounds the
        probability that any limit is too high (Bonferroni, spent as Lan and DeMets 1983 propose).

    Examples
    --------
    >>> alpha_of(1, 1), round(sum(alpha_of(j, l) for j in range(1, 999) for l in range(1, 60)), 3)
    (0.0125, 0.05)
    """
    if judge < 1 or look < 1:
        raise NotValid("judges and looks must be 1 or more")
    return ALPHA / (judge * (judge + 1)) / 2.0**look
