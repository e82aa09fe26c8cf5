"""RBP: documents by the sum of their rank-biased weights over all runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, repeat
from typing import Any

from judgments.core.parameters import Parameter
from pooling.strategies.strategy import Choice, Strategy, Task, heaviest


def weights(p: float, depth: int) -> list[float]:
    """What rank 1, 2, ... is worth: (1 - p) p^(rank - 1).

    Parameters
    ----------
    p : float
        Persistence: the chance that a reader goes on from one rank to the next.
    depth : int
        How many ranks.

    Examples
    --------
    >>> [round(weight, 4) for weight in weights(0.8, 3)]
    [0.2, 0.16, 0.128]
    """
    # Products alone: a power may differ in its last bit from one machine to the next, and with it the order of equals.
    return list(accumulate(repeat(p, depth - 1), lambda worth, factor: worth * factor, initial=1.0 - p))


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """The runs' first documents by the sum of their weights over all runs, heaviest first.

    Parameters
    ----------
    task : Task
        The runs' first documents.
    params : mapping
        ``depth``: how far down a run counts; ``p``: persistence.

    Notes
    -----
    Moffat and Zobel's rank-biased precision gives the discount; what stays unjudged below the budget has a known,
    bounded effect on it. Give the pool a budget: the order is what this strategy is about.
    """
    return heaviest(task, task.candidates.sums(weights(params["p"], params["depth"])), "rbp")


RBP = Strategy(
    name="rbp",
    title="RBP weight",
    description="Documents that many runs return high come first; the best fixed order when a budget cuts the pool.",
    parameters=(
        Parameter("depth", "Depth", "How many documents of each run are considered.", 50, minimum=1),
        Parameter("p", "Persistence", "How slowly the weight falls with the rank.", 0.8, 0.01, 0.99),
    ),
    choose=choose,
)
