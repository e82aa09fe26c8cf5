"""RBP: documents by the sum of their rank-biased weights over all runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, repeat
from typing import Any

from assay.core.parameters import Parameter
from assay.strategies.strategy import Choice, Strategy, Task, heaviest


def weights(p: float, depth: int) -> list[float]:
    """Return the weights of rank 1, 2, ...: (1 - p) p^(rank - 1).

    Examples
    --------
    >>> [round(weight, 4) for weight in weights(0.8, 3)]
    [0.2, 0.16, 0.128]
    """
    # Only products: a power may differ in its last bit between machines, and with it the order of ties.
    return list(accumulate(repeat(p, depth - 1), lambda worth, factor: worth * factor, initial=1.0 - p))


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the runs' first documents by the sum of their weights over all runs, heaviest first."""
    return heaviest(task, task.candidates.sums(weights(params["p"], params["depth"])), "rbp")


RBP = Strategy(
    name="rbp",
    title="RBP weight",
    description="Documents that many runs rank high come first; the best fixed order when a budget limits the pool.",
    parameters=(
        Parameter("depth", "Depth", "Number of documents to consider from each run.", 50, minimum=1),
        Parameter("p", "Persistence", "How slowly the weight decreases with the rank.", 0.8, 0.01, 0.99),
    ),
    choose=choose,
)
