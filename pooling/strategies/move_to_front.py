"""Move-to-front: stay with a run as long as its documents are relevant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgments.core.parameters import Parameter
from pooling.strategies.following import OneQuery, Walk, one_by_one
from pooling.strategies.strategy import Choice, Strategy, Task

# What a document that nobody has judged yet costs its run: less than a miss, so that the runs share a batch.
UNJUDGED = 0.5


def follow(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
    """Stay with a run while its documents are relevant; step back from it at each that is not.

    Parameters
    ----------
    one : OneQuery
        The lists of one query.
    params : mapping
        Not used.

    Yields
    ------
    int
        A document.
    """
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
        found = walk.found(document)
        if not found:
            priority[run] -= UNJUDGED if found is None else 1.0
            run = None


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """The next documents of the runs that have been right most often.

    Parameters
    ----------
    task : Task
        The runs' first documents, and what is known of them.
    params : mapping
        ``depth``: how far down a run is followed.

    Notes
    -----
    Cormack, Palmer and Clarke (1998). All runs begin alike; the one with the highest priority is followed, equals by
    lot, and loses 1 with every document that is not relevant.
    """
    return one_by_one(task, follow, params, "move-to-front")


MOVE_TO_FRONT = Strategy(
    name="move-to-front",
    title="Move to front",
    description="Follows the runs that have just been right: finds much more than depth k, and stays fair to the runs.",
    parameters=(Parameter("depth", "Depth", "How many documents of each run are considered.", 100, minimum=1),),
    choose=choose,
    adaptive=True,
)
