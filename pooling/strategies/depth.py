"""Depth-k pooling: the first k documents of every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgments.core.parameters import Parameter
from pooling.strategies.strategy import Choice, Strategy, Task, heaviest


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """The union of the first k documents of every run, by best rank, equals in the seed's order.

    Parameters
    ----------
    task : Task
        The runs' first documents.
    params : mapping
        ``depth``: k.

    Notes
    -----
    Depth-k pooling as TREC does it. Its size is that of the union, between k (all runs alike) and k times the number
    of runs (nothing shared).
    """
    return heaviest(task, -task.candidates.best_rank, "depth")


DEPTH = Strategy(
    name="depth",
    title="Depth k",
    description="The first k documents of every run; fair to every run, and the pool that reports can cite.",
    parameters=(Parameter("depth", "Depth", "How many documents of each run go into the pool.", 10, minimum=1),),
    choose=choose,
)
