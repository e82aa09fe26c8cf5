"""Strategies that walk down the runs' lists, query by query, and follow the judgments so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from assay.core.parameters import Parameter
from assay.core.text_column import Texts
from assay.strategies.candidates import mixed
from assay.strategies.strategy import RELEVANT, UNKNOWN, Choice, Strategy, Task


@dataclass(slots=True)
class OneQuery:
    """The input of a walk: documents are numbers from 0."""

    lists: list[list[int]]
    state: list[int]
    lots: list[int]
    rng: np.random.Generator


Follow = Callable[[OneQuery, Mapping[str, Any]], Iterator[int]]


def one_by_one(follow: Follow, why: str, task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose for every query with a walk."""
    table, rows, passed, over = task.candidates, [], 0, 0
    for query in range(len(table.query_ids)):
        one = one_query(task, query)
        begin, taken = int(table.offsets[query]), 0
        for document in follow(one, params):
            if one.state[document] != UNKNOWN:
                passed += 1
            elif task.size is None or taken < task.size:
                rows.append(begin + document)
                taken += 1
            if task.size is not None and taken == task.size:
                break
        over += one.state.count(UNKNOWN) - taken if taken == task.size else 0
    return Choice(np.array(rows, dtype=np.int64), (why,), np.zeros(len(rows), dtype=np.int8), passed, over)


def one_query(task: Task, query: int) -> OneQuery:
    """Return one query of a task."""
    table = task.candidates
    begin, end = int(table.offsets[query]), int(table.offsets[query + 1])
    entries = slice(int(table.begins[begin]), int(table.begins[end]))
    counts = np.diff(table.begins[begin : end + 1])
    runs, ranks, documents = table.runs[entries], table.ranks[entries], np.repeat(np.arange(end - begin), counts)
    order = np.lexsort((ranks, runs))
    ends = np.searchsorted(runs[order], np.arange(1, len(table.run_names)))
    lists = [part.tolist() for part in np.split(documents[order], ends)]
    lots = table.doc_ids.take(slice(begin, end)).keys()
    key = mixed(Texts.of([f"{task.seed}\x1f{table.query_ids[query]}"]).keys())[0]
    return OneQuery(lists, task.state[begin:end].tolist(), mixed(lots ^ key).tolist(), _generator(int(key)))


def _generator(key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(key))


class Walk:
    """The position of a walk in each run's list."""

    def __init__(self, one: OneQuery) -> None:
        self.one = one
        self.places = [0] * len(one.lists)
        self.seen: set[int] = set()

    def next_of(self, run: int) -> int | None:
        """Return the first document of a run that the walk has not seen; None at the end of its list."""
        documents, place = self.one.lists[run], self.places[run]
        while place < len(documents) and documents[place] in self.seen:
            place += 1
        self.places[run] = place
        if place == len(documents):
            return None
        self.seen.add(documents[place])
        return documents[place]

    def open(self) -> list[int]:
        """Return the runs whose list may continue."""
        return [run for run, documents in enumerate(self.one.lists) if self.places[run] < len(documents)]

    def is_relevant(self, document: int) -> bool | None:
        """Return whether a document is relevant; None if it is unjudged."""
        state = self.one.state[document]
        return None if state < 0 else state == RELEVANT


def follow_hedge(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
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


HEDGE = Strategy(
    name="hedge",
    title="Hedge",
    description="Runs vote, and accurate runs have more weight; finds the most, but may rank the runs slightly wrong.",
    parameters=(
        Parameter("depth", "Depth", "Number of documents to consider from each run.", 100, minimum=1),
        Parameter("beta", "Beta", "Factor that reduces a run's weight after its worst mistake.", 0.1, 0.001, 0.999),
    ),
    choose=partial(one_by_one, follow_hedge, "hedge"),
    adaptive=True,
)


# The penalty of an unjudged document for its run: less than of a miss, so that the runs share a batch.
UNJUDGED = 0.5


def follow_move_to_front(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
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


MOVE_TO_FRONT = Strategy(
    name="move-to-front",
    title="Move to front",
    description=(
        "Prefers the runs that were right most recently; finds far more than depth k and stays fair to the runs."
    ),
    parameters=(Parameter("depth", "Depth", "Number of documents to consider from each run.", 100, minimum=1),),
    choose=partial(one_by_one, follow_move_to_front, "move-to-front"),
    adaptive=True,
)


def follow_thompson(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
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


THOMPSON = Strategy(
    name="thompson",
    title="Thompson sampling",
    description="Picks runs at random, good runs more often; finds more than depth k and ranks the runs as well.",
    parameters=(Parameter("depth", "Depth", "Number of documents to consider from each run.", 100, minimum=1),),
    choose=partial(one_by_one, follow_thompson, "thompson"),
    adaptive=True,
)


# The fewest judgments for a meaningful share.
LATEST = 10


def follow_variable_depth(one: OneQuery, params: Mapping[str, Any]) -> Iterator[int]:
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


VARIABLE_DEPTH = Strategy(
    name="variable-depth",
    title="Variable depth",
    description="Depth k for every query, then one rank deeper at a time while judgments find relevant documents.",
    parameters=(
        Parameter("depth", "Depth", "Maximum number of documents from each run.", 100, minimum=1),
        Parameter("start", "First depth", "Number of documents from each run that are always included.", 5, minimum=1),
        Parameter("floor", "Floor", "The share of the latest judgments that must be relevant to continue.", 0.1, 0, 1),
    ),
    choose=partial(one_by_one, follow_variable_depth, "variable-depth"),
    adaptive=True,
)
