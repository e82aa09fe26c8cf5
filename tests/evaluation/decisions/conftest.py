"""Fixtures of decisions: two systems whose documents name their grades."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from evaluation.decisions import decisions
from evaluation.models import Decision
from judgments.models import Pair
from judgments.rating import assignment
from pooling.models import Run
from tests.world import grade_together

QUERIES = 40
Lists = dict[str, list[str]]


def lists(gain: float, *, seed: int = 1, queries: int = QUERIES, same: int = 0) -> tuple[Lists, Lists]:
    """Return the lists of a baseline and a candidate that is better by ``gain`` of its top documents on average."""
    draw = random.Random(seed)
    before: Lists = {}
    after: Lists = {}
    for number in range(queries):
        query_id = f"q{number:03d}"
        before[query_id] = [f"{query_id}-{letter}-{draw.choice([0, 1, 2])}" for letter in "abc"]
        if number < same:
            after[query_id] = list(before[query_id])
            continue
        better = draw.random() < gain
        after[query_id] = [f"{query_id}-{letter}-{3 if better else draw.choice([0, 1, 2])}" for letter in "xyz"]
    return before, after


def run_file(ranked: Lists) -> str:
    return "".join(
        f"{query_id} Q0 {doc_id} {rank} {100 - rank} run\n"
        for query_id, ranking in ranked.items()
        for rank, doc_id in enumerate(ranking, 1)
    )


def grade_of(pair: Pair) -> int:
    """Return the grade that the document's id names."""
    return int(pair.document.doc_id[-1])


@pytest.fixture
def systems(collection: Any, store_file: Callable[..., Any]) -> Callable[..., tuple[Run, Run]]:
    """Store a baseline and a candidate with the queries of both."""

    def store(before: Lists, after: Lists) -> tuple[Run, Run]:
        ids = sorted({*before, *after})
        store_file("queries", "query_id,query\n" + "".join(f"{one},query {one}\n" for one in ids), "queries.csv")
        store_file("runs", run_file(before), "current.run")
        store_file("runs", run_file(after), "new.run")
        return collection.runs.get(name="current"), collection.runs.get(name="new")

    return store


@pytest.fixture
def start(systems: Any, lead: Any, rater: Any) -> Callable[..., Decision]:
    """Start a decision between two systems with one rater."""

    def begin(before: Lists, after: Lists, *, raters: Any = (), **changes: Any) -> Decision:
        baseline, candidate = systems(before, after)
        settings = decisions.Settings(**{"metric": "DCG@3", **changes})
        made, _ = decisions.start(
            baseline, [candidate], actor=lead, name="new", settings=settings, raters=raters or [rater]
        )
        return made

    return begin


def rate(decision: Decision, rater: Any, most: int = 10_000) -> int:
    """Let the rater grade up to so many pairs of what is handed out."""
    done = 0
    while decision.round is not None and done < most:
        batch = assignment.claim_batch(decision.round, rater=rater, size=min(10, most - done))
        if not batch:
            break
        done += len(grade_together(decision.round, rater, {pair.uuid: grade_of(pair) for pair in batch}))
    return done


@pytest.fixture
def commit(django_capture_on_commit_callbacks: Any) -> Any:
    """What waits for a commit, such as a job, is done where this ends: ``with commit(execute=True)``."""
    return django_capture_on_commit_callbacks
