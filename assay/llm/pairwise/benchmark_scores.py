"""zbench's metrics and data of a reranker: its scores compared with reference scores.

Each query has two lists of scores over the same documents. The three metrics are zbench's own, so that results
compare with published ones: gains are the exponentials of the true scores, and pairs with equal scores stay in the
divisor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.errors import NotValid
from assay.llm.pairwise.battles import Floats


@dataclass(frozen=True)
class Figures:
    """Metrics of one query."""

    documents: int
    omitted: int
    unknown: int
    ndcg: float | None
    accuracy: float | None
    recall: float | None


def figures(truth: Mapping[str, float], given: Mapping[str, float], k: int, k_truth: int | None = None) -> Figures:
    """Compare the scores of a query's documents with the true ones.

    Examples
    --------
    >>> found = figures({"x": 2.0, "y": 1.0, "z": 0.0}, {"x": 0.3, "w": 0.9}, 2)
    >>> (found.omitted, found.unknown, round(found.accuracy, 4), found.recall)
    (2, 1, 0.6667, 0.5)
    """
    names = list(truth)
    scored = [name for name in names if name in given]
    counts = len(names), len(names) - len(scored), len(given) - len(scored)
    wanted = k if k_truth is None else k_truth
    if names and not scored:
        _check_ranks(k, wanted)
        return Figures(*counts, 0.0, 0.0 if len(names) > 1 else None, 0.0)
    lowest = min((given[name] for name in scored), default=0.0)
    below = lowest - max(1.0, abs(lowest))
    right = [truth[name] for name in names]
    mine = [given.get(name, below) for name in names]
    recall_at_k = recall(right, mine, k, k_truth)
    if recall_at_k is not None and len(scored) < k:
        recall_at_k = recall(right, mine, len(scored), wanted)
    return Figures(*counts, ndcg(right, mine), accuracy(right, mine), recall_at_k)


def ndcg(truth: Sequence[float], scores: Sequence[float]) -> float | None:
    """Return nDCG with gains ``exp(true score)``.

    Examples
    --------
    >>> round(ndcg([2.0, 0.0, 1.0], [0.9, 0.1, 0.5]), 6), round(ndcg([2.0, 0.0, 1.0], [0.1, 0.9, 0.5]), 4)
    (1.0, 0.6674)
    """
    right, places = _checked(truth, scores), order(scores)
    if not len(right):
        return None
    # Dividing all gains by a constant cancels, so no score is too large.
    gains = np.exp(right - right.max())
    worth = 1 / np.log2(np.arange(len(gains)) + 2)
    return float((gains[places] * worth).sum() / (np.sort(gains)[::-1] * worth).sum())


def accuracy(truth: Sequence[float], scores: Sequence[float]) -> float | None:
    """Return the share of document pairs in the true order; a tie on either side is not correct.

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
    apart = np.sign(mine[:, None] - mine[None, :])[above] * np.sign(right[:, None] - right[None, :])[above]
    return float((apart > 0).mean())


def recall(truth: Sequence[float], scores: Sequence[float], k: int, k_truth: int | None = None) -> float | None:
    """Return the share of the best `k_truth` documents in the top `k`; `k_truth` defaults to `k`.

    Examples
    --------
    >>> recall([3.0, 2.0, 1.0, 0.0], [0.1, 0.9, 0.8, 0.7], 2)
    0.5
    """
    _checked(truth, scores)
    wanted = k if k_truth is None else k_truth
    _check_ranks(k, wanted)
    if not len(truth):
        return None
    return len(set(order(truth)[:wanted].tolist()) & set(order(scores)[:k].tolist())) / wanted


def order(scores: Sequence[float]) -> np.ndarray:
    """Return the positions from the highest score down; ties in reverse order, as in a reversed stable sort."""
    return np.argsort(np.asarray(scores, dtype=np.float64), kind="stable")[::-1]


def histogram(
    values: Sequence[float], bins: int = 10, low: float | None = 0.0, high: float | None = 1.0
) -> list[tuple[float, float, int]]:
    """Return bin counts and edges; the last bin includes its upper edge, None is the range of the values.

    Examples
    --------
    >>> histogram([0.1, 0.9, 1.0], 2)
    [(0.0, 0.5, 1), (0.5, 1.0, 2)]
    """
    array = np.asarray(values, dtype=np.float64)
    ends = (
        (float(array.min(initial=np.inf)) if low is None else low),
        (float(array.max(initial=-np.inf)) if high is None else high),
    )
    if not np.isfinite(ends).all():
        return []
    counts, edges = np.histogram(array, bins=bins, range=ends)
    return [(float(edges[at]), float(edges[at + 1]), int(count)) for at, count in enumerate(counts)]


def _check_ranks(k: int, k_truth: int) -> None:
    if k < 1 or k_truth < 1:
        raise NotValid(f"k is {k} and k_truth is {k_truth}; both must be at least 1")


def _checked(truth: Sequence[float], scores: Sequence[float]) -> Floats:
    if len(truth) != len(scores):
        raise NotValid(f"there are {len(truth)} true scores and {len(scores)} scores; each document needs one of each")
    return np.asarray(truth, dtype=np.float64)


def annotate(path: str, scores: Mapping[tuple[str, str], float], *, every: bool = False) -> Iterator[str]:
    """Yield the lines of a data set with a score for each document."""
    for line in Path(path).read_text(encoding="utf-8-sig").split("\n"):
        if not line.strip():
            continue
        record = json.loads(line)
        query_id = str(record["query"]["id"])
        if not every and not any((query_id, str(one["id"])) in scores for one in record["documents"]):
            continue
        for one in record["documents"]:
            one["score"] = scores.get((query_id, str(one["id"])), 0.0)
        yield json.dumps(record, ensure_ascii=False) + "\n"
