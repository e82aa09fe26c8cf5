"""Variable depth: pool a query deeper as long as its latest judgments find enough relevant documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgments.core.parameters import Parameter
from pooling.strategies.following import OneQuery, one_by_one
from pooling.strategies.strategy import RELEVANT, UNKNOWN, Choice, Strategy, Task

# A share of fewer judgments than these says nothing.
LATEST = 10


def follow(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
    """One rank of all runs after the other, as long as the latest judgments found enough.

    Parameters
    ----------
    one : OneQuery
        The lists of one query.
    params : mapping
        ``start``: the depth that every query gets; ``floor``: the share that must be relevant to go on.

    Yields
    ------
    int
        A document.
    """
    latest: list[int] = []
    for rank, level in enumerate(_levels(one)):
        if rank >= params["start"] and not _worth_it(latest, params["floor"]):
            return
        for document in level:
            yield document
            # The deepest judgments say best what the next rank will hold.
            latest = [*latest, one.state[document]][-max(LATEST, len(level)) :]


def _levels(one: OneQuery) -> Iterator[list[int]]:
    """The documents that are new at rank 1, 2, ..., each rank's in the seed's order."""
    seen: set[int] = set()
    for rank in range(max(map(len, one.lists), default=0)):
        level = {documents[rank] for documents in one.lists if rank < len(documents)} - seen
        seen |= level
        yield sorted(level, key=one.lots.__getitem__)


def _worth_it(latest: list[int], floor: float) -> bool:
    """Whether the latest pairs are judged, and enough of them relevant."""
    judged = [state for state in latest if state >= 0]
    return UNKNOWN not in latest and bool(judged) and judged.count(RELEVANT) >= floor * len(judged)


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """The first documents of every run, deeper where depth pays.

    Parameters
    ----------
    task : Task
        The runs' first documents, and what is known of them.
    params : mapping
        ``depth``: where every query ends; ``start``: the depth of all; ``floor``: the share that must be relevant.

    Notes
    -----
    Without judgments it is depth pooling at ``start``. Asked again, it adds a rank to those queries whose latest ten
    judgments (all of the latest rank, where that is more) hold relevant documents at least as often as ``floor`` says.
    """
    return one_by_one(task, follow, params, "variable-depth")


VARIABLE_DEPTH = Strategy(
    name="variable-depth",
    title="Variable depth",
    description="Depth k for every query, then rank by rank deeper where the judgments go on to find relevant ones.",
    parameters=(
        Parameter("depth", "Depth", "How many documents of each run are considered at most.", 100, minimum=1),
        Parameter("start", "First depth", "How many documents of each run are taken whatever is found.", 5, minimum=1),
        Parameter("floor", "Floor", "The share of the latest judgments that must be relevant to go on.", 0.1, 0, 1),
    ),
    choose=choose,
    adaptive=True,
)
