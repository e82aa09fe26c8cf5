"""Hedge: documents by weighted votes of the runs, with weights updated by the judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from assay.core.parameters import Parameter
from assay.strategies.list_walk import OneQuery, one_by_one
from assay.strategies.strategy import Choice, Strategy, Task


def follow(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
    """Yield all documents by the weighted votes of the runs, with weights from all existing judgments."""
    longest = max(map(len, one.lists), default=0)
    votes = np.zeros((len(one.lists), len(one.state)))
    worth = [0.5 * math.log((longest + 1) / rank) for rank in range(1, longest + 1)]
    for run, documents in enumerate(one.lists):
        votes[run, documents] = worth[: len(documents)]
    votes /= worth[0] if worth else 1.0
    state = np.array(one.state)
    # The weights are a product over all judgments, in any order: no walk is repeated.
    loss = votes[:, state == 0].sum(axis=1) - votes[:, state == 1].sum(axis=1)
    weights = params["beta"] ** (loss - loss.min(initial=math.inf))
    score = (votes * weights[:, None]).sum(axis=0)
    yield from np.lexsort((one.lots, -score)).tolist()


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the documents with the most votes."""
    return one_by_one(task, follow, params, "hedge")


HEDGE = Strategy(
    name="hedge",
    title="Hedge",
    description="Runs vote, and accurate runs have more weight; finds the most, but the order of the runs may "
    "be slightly off.",
    parameters=(
        Parameter("depth", "Depth", "Number of documents to consider from each run.", 100, minimum=1),
        Parameter("beta", "Beta", "Factor that reduces a run's weight after its worst mistake.", 0.1, 0.001, 0.999),
    ),
    choose=choose,
    adaptive=True,
)
