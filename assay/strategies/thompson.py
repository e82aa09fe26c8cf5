"""Thompson sampling: each run is a bandit arm with an unknown share of relevant documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from assay.core.parameters import Parameter
from assay.strategies.list_walk import OneQuery, Walk, one_by_one
from assay.strategies.strategy import Choice, Strategy, Task


def follow(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
    """Yield documents of the run with the highest draw from the posterior of its share of relevant documents."""
    walk = Walk(one)
    right, wrong = np.ones(len(one.lists)), np.ones(len(one.lists))
    while runs := walk.open():
        run = runs[int(one.rng.beta(right[runs], wrong[runs]).argmax())]
        document = walk.next_of(run)
        if document is None:
            continue
        yield document
        relevant = walk.is_relevant(document)
        if relevant is not None:
            (right if relevant else wrong)[run] += 1.0


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the next documents of runs drawn by their posterior share of relevant documents."""
    return one_by_one(task, follow, params, "thompson")


THOMPSON = Strategy(
    name="thompson",
    title="Thompson sampling",
    description="Picks runs at random, good runs more often; finds more than depth k and ranks the runs equally well.",
    parameters=(Parameter("depth", "Depth", "Number of documents to consider from each run.", 100, minimum=1),),
    choose=choose,
    adaptive=True,
)
