"""Walks down the lists of one query, for strategies that learn from judgments on the way.

A walk starts again each time that pairs are needed, and meets the existing judgments in its own order. No state is
kept between two calls: the same judgments and the same seed give the same walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgments.core.texts import Texts
from pooling.strategies.candidate_blocks import mixed
from pooling.strategies.strategy import RELEVANT, UNKNOWN, Choice, Task


@dataclass(slots=True)
class OneQuery:
    """What a walk sees: documents are numbers from 0.

    Parameters
    ----------
    lists : list of list of int
        Each run's documents, best first; runs by name. A run that does not answer the query has an empty list.
    state : list of int
        What is known of each document, as a task has it.
    lots : list of int
        A random number for each document, to put equals in order.
    rng : numpy.random.Generator
        Seeded by the task's seed and the query alone, so that one query's draws do not hang on another's.
    """

    lists: list[list[int]]
    state: list[int]
    lots: list[int]
    rng: np.random.Generator


Follow = Callable[[OneQuery, Mapping[str, Any]], Iterator[int]]


def one_by_one(task: Task, follow: Follow, params: Mapping[str, Any], why: str) -> Choice:
    """Let a walk choose for every query.

    Parameters
    ----------
    task : Task
        What is known, and how many pairs are wanted.
    follow : callable
        A query and the parameters to documents, each once, in the order of choice. What is known of a document that it
        has just yielded it reads from ``state``; it goes on without an answer where nobody has judged the document.
    params : mapping
        The strategy's parameters.
    why : str
        The reason of all pairs.
    """
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
    """Cut one query out of a task."""
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
    """Where a walk stands in each run's list.

    Parameters
    ----------
    one : OneQuery
        The query.
    """

    def __init__(self, one: OneQuery) -> None:
        self.one = one
        self.places = [0] * len(one.lists)
        self.seen: set[int] = set()

    def next_of(self, run: int) -> int | None:
        """Return the first document of a run that the walk has not met; None at the end of its list."""
        documents, place = self.one.lists[run], self.places[run]
        while place < len(documents) and documents[place] in self.seen:
            place += 1
        self.places[run] = place
        if place == len(documents):
            return None
        self.seen.add(documents[place])
        return documents[place]

    def open(self) -> list[int]:
        """Return the runs whose list may go on."""
        return [run for run, documents in enumerate(self.one.lists) if self.places[run] < len(documents)]

    def found(self, document: int) -> bool | None:
        """Say whether a document is relevant; None where nobody knows."""
        state = self.one.state[document]
        return None if state < 0 else state == RELEVANT
