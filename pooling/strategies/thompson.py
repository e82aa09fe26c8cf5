"""Thompson sampling: each run is a bandit arm with an unknown share of relevant documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from judgments.core.parameters import Parameter
from pooling.strategies.following import OneQuery, Walk, one_by_one
from pooling.strategies.strategy import Choice, Strategy, Task


def follow(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
    """Draw each run's share of relevant documents from what is believed of it, and follow the highest draw.

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
    walk = Walk(one)
    right, wrong = np.ones(len(one.lists)), np.ones(len(one.lists))
    while runs := walk.open():
        run = runs[int(one.rng.beta(right[runs], wrong[runs]).argmax())]
        document = walk.next_of(run)
        if document is None:
            continue
        yield document
        found = walk.found(document)
        if found is not None:
            (right if found else wrong)[run] += 1.0


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """The next documents of runs that are drawn by what is believed of them.

    Parameters
    ----------
    task : Task
        The runs' first documents, and what is known of them.
    params : mapping
        ``depth``: how far down a run is followed.

    Notes
    -----
    Thompson sampling as Losada, Parapar and Barreiro (2016) use it for pooling: each run is believed to hold a share of
    relevant documents that is Beta(1 + relevant, 1 + not relevant), by what was found while following it.
    """
    return one_by_one(task, follow, params, "thompson")


THOMPSON = Strategy(
    name="thompson",
    title="Thompson sampling",
    description="Follows runs at random, good ones more often: finds more than depth k and ranks the runs as well.",
    parameters=(Parameter("depth", "Depth", "How many documents of each run are considered.", 100, minimum=1),),
    choose=choose,
    adaptive=True,
)
