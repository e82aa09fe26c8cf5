"""Variable depth: pool a query deeper while its latest judgments find enough relevant documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.core.parameters import Parameter
from assay.strategies.list_walk import OneQuery, one_by_one
from assay.strategies.strategy import RELEVANT, UNKNOWN, Choice, Strategy, Task

# The fewest judgments for a meaningful share.
LATEST = 10


def follow(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
    """Yield one rank of all runs at a time, while enough of the latest judgments are relevant."""
    latest: list[int] = []
    for rank, level in enumerate(_levels(one)):
        if rank >= params["start"] and not _worth_it(latest, params["floor"]):
            return
        for document in level:
            yield document
            # The deepest judgments predict the next rank best.
            latest = [*latest, one.state[document]][-max(LATEST, len(level)) :]


def _levels(one: OneQuery) -> Iterator[list[int]]:
    """Yield the new documents at rank 1, 2, ..., in the seed's order within a rank."""
    seen: set[int] = set()
    for rank in range(max(map(len, one.lists), default=0)):
        level = {documents[rank] for documents in one.lists if rank < len(documents)} - seen
        seen |= level
        yield sorted(level, key=one.lots.__getitem__)


def _worth_it(latest: list[int], floor: float) -> bool:
    """Return whether the latest pairs are judged, and enough of them relevant."""
    judged = [state for state in latest if state >= 0]
    return UNKNOWN not in latest and bool(judged) and judged.count(RELEVANT) >= floor * len(judged)


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the top documents of every run, deeper if depth finds relevant documents."""
    return one_by_one(task, follow, params, "variable-depth")


VARIABLE_DEPTH = Strategy(
    name="variable-depth",
    title="Variable depth",
    description="Depth k for every query, then one rank deeper at a time while judgments find relevant documents.",
    parameters=(
        Parameter("depth", "Depth", "Maximum number of documents from each run.", 100, minimum=1),
        Parameter("start", "First depth", "Number of documents from each run that are always included.", 5, minimum=1),
        Parameter("floor", "Floor", "The share of the latest judgments that must be relevant to continue.", 0.1, 0, 1),
    ),
    choose=choose,
    adaptive=True,
)
