"""Move-to-front: stay with a run as long as its documents are relevant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.core.parameters import Parameter
from assay.strategies.list_walk import OneQuery, Walk, one_by_one
from assay.strategies.strategy import Choice, Strategy, Task

# The penalty of an unjudged document for its run: less than of a miss, so that the runs share a batch.
UNJUDGED = 0.5


def follow(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
    """Yield documents of a run while they are relevant; lower its priority at each one that is not."""
    walk, priority, run = Walk(one), [0.0] * len(one.lists), None
    while runs := walk.open():
        if run not in runs:
            best = max(priority[at] for at in runs)
            equals = [at for at in runs if priority[at] == best]
            run = equals[int(one.rng.integers(len(equals)))]
        document = walk.next_of(run)
        if document is None:
            continue
        yield document
        relevant = walk.is_relevant(document)
        if not relevant:
            priority[run] -= UNJUDGED if relevant is None else 1.0
            run = None


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the next documents of the runs with the highest priority."""
    return one_by_one(task, follow, params, "move-to-front")


MOVE_TO_FRONT = Strategy(
    name="move-to-front",
    title="Move to front",
    description=(
        "Prefers runs whose latest documents were relevant; finds far more than depth k and stays fair to all runs."
    ),
    parameters=(Parameter("depth", "Depth", "Number of documents to consider from each run.", 100, minimum=1),),
    choose=choose,
    adaptive=True,
)
