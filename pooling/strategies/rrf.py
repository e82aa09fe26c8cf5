"""RRF: documents by reciprocal rank fusion of the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgments.core.parameters import Parameter
from pooling.strategies.strategy import Choice, Strategy, Task, heaviest


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """The runs' first documents by the sum of 1 / (k + rank), heaviest first.

    Parameters
    ----------
    task : Task
        The runs' first documents.
    params : mapping
        ``depth``: how far down a run counts; ``k``: how little the first ranks stand out.

    Notes
    -----
    Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009). It finds much, and favors what many runs agree on: a
    run that sees what no other sees is judged less than it deserves.
    """
    worth = [1.0 / (params["k"] + rank) for rank in range(1, params["depth"] + 1)]
    return heaviest(task, task.candidates.sums(worth), "rrf")


RRF = Strategy(
    name="rrf",
    title="Reciprocal rank fusion",
    description="Documents that many runs agree on come first; finds much, but is hard on a run unlike the others.",
    parameters=(
        Parameter("depth", "Depth", "How many documents of each run are considered.", 100, minimum=1),
        Parameter("k", "Constant", "How little the first ranks stand out.", 60, minimum=0),
    ),
    choose=choose,
)
