"""Depth-k pooling: the first k documents of every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.parameters import Parameter
from assay.strategies.strategy import Choice, Strategy, Task, heaviest


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the union of the first k documents of every run, by best rank, ties in the seed's order."""
    return heaviest(task, -task.candidates.best_rank, "depth")


DEPTH = Strategy(
    name="depth",
    title="Depth k",
    description="The top k documents of every run; fair to every run, and the standard method in reports.",
    parameters=(Parameter("depth", "Depth", "Number of documents from each run in the pool.", 10, minimum=1),),
    choose=choose,
)
