"""How near do a reranker's scores come to those that are taken for the truth, as zbench counts?

For each query two lists of scores over the same documents. All three figures are zbench's own, so that published ones
can be compared: gains are the exponentials of the true scores, and pairs with equal scores stay in the divisor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgments.core.errors import NotValid
from judgments.preferences.battles import Floats


def ndcg(truth: Sequence[float], scores: Sequence[float]) -> float | None:
    """The discounted sum of ``exp(true score)`` in the order of the scores, over that of the best order.

    Parameters
    ----------
    truth, scores : sequence of float, shape (documents,)
        Of the same documents.

    Returns
    -------
    float or None
        Above 0, at most 1; None without documents. Equal scores stand in reverse order of the documents' places.

    Examples
    --------
    >>> round(ndcg([2.0, 0.0, 1.0], [0.9, 0.1, 0.5]), 6), round(ndcg([2.0, 0.0, 1.0], [0.1, 0.9, 0.5]), 4)
    (1.0, 0.6674)
    """
    gains, places = np.exp(_checked(truth, scores)), order(scores)
    if not len(gains):
        return None
    worth = 1 / np.log2(np.arange(len(gains)) + 2)
    return float((gains[places] * worth).sum() / (np.sort(gains)[::-1] * worth).sum())


def accuracy(truth: Sequence[float], scores: Sequence[float]) -> float | None:
    """The share of all pairs of documents that stand in the true order; a tie on either side is not right.

    Examples
    --------
    >>> round(accuracy([2.0, 0.0, 1.0], [0.9, 0.6, 0.5]), 4), accuracy([1.0], [1.0])
    (0.6667, None)
    """
    _checked(truth, scores)
    mine, right = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if len(mine) < 2:
        return None
    above = np.triu_indices(len(mine), 1)
    apart = (mine[:, None] - mine[None, :])[above] * (right[:, None] - right[None, :])[above]
    return float((apart > 0).mean())


def recall(truth: Sequence[float], scores: Sequence[float], k: int, k_truth: int | None = None) -> float | None:
    """The share of the best `k_truth` documents that are among the first `k`; `k_truth` is `k` where None.

    Examples
    --------
    >>> recall([3.0, 2.0, 1.0, 0.0], [0.1, 0.9, 0.8, 0.7], 2)
    0.5
    """
    _checked(truth, scores)
    wanted = k if k_truth is None else k_truth
    if k < 1 or wanted < 1:
        raise NotValid(f"the first {k} and the best {wanted} documents; give 1 or more of both")
    if not len(truth):
        return None
    return len(set(order(truth)[:wanted].tolist()) & set(order(scores)[:k].tolist())) / wanted


def order(scores: Sequence[float]) -> np.ndarray:
    """The places from the highest score down; of equal ones the later place first, as a reversed stable sort has it."""
    return np.argsort(np.asarray(scores, dtype=np.float64), kind="stable")[::-1]


def histogram(
    values: Sequence[float], bins: int = 10, low: float = 0.0, high: float = 1.0
) -> list[tuple[float, float, int]]:
    """How many values fall between which ends; the last bin holds its upper end.

    Examples
    --------
    >>> histogram([0.1, 0.9, 1.0], 2)
    [(0.0, 0.5, 1), (0.5, 1.0, 2)]
    """
    counts, edges = np.histogram(np.asarray(values, dtype=np.float64), bins=bins, range=(low, high))
    return [(float(edges[at]), float(edges[at + 1]), int(count)) for at, count in enumerate(counts)]


def _checked(truth: Sequence[float], scores: Sequence[float]) -> Floats:
    if len(truth) != len(scores):
        raise NotValid(f"{len(truth)} true scores go with {len(scores)} scores; each document has one of both")
    return np.asarray(truth, dtype=np.float64)
