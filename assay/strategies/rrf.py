"""RRF: documents by reciprocal rank fusion of the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.parameters import Parameter
from assay.strategies.strategy import Choice, Strategy, Task, heaviest


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the runs' first documents by the sum of 1 / (k + rank), heaviest first."""
    worth = [1.0 / (params["k"] + rank) for rank in range(1, params["depth"] + 1)]
    return heaviest(task, task.candidates.sums(worth), "rrf")


RRF = Strategy(
    name="rrf",
    title="Reciprocal rank fusion",
    description="Documents that many runs return come first; finds many, but is unfair to a run that differs "
    "from the others.",
    parameters=(
        Parameter("depth", "Depth", "Number of documents to consider from each run.", 100, minimum=1),
        Parameter("k", "Constant", "Higher values reduce the weight of the top ranks.", 60, minimum=0),
    ),
    choose=choose,
)
