"""Walks through the rankings of one query, for strategies that learn from judgments on the way.

A walk starts again whenever pairs are needed, and applies the existing judgments in its own order. No state is stored
between two calls: the same judgments and the same seed give the same walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.text_column import Texts
from assay.strategies.candidates import mixed
from assay.strategies.strategy import RELEVANT, UNKNOWN, Choice, Task


@dataclass(slots=True)
class OneQuery:
    """The input of a walk: documents are numbers from 0."""

    lists: list[list[int]]
    state: list[int]
    lots: list[int]
    rng: np.random.Generator


Follow = Callable[[OneQuery, Mapping[str, Any]], Iterator[int]]


def one_by_one(task: Task, follow: Follow, params: Mapping[str, Any], why: str) -> Choice:
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
