"""Simulated rounds for the rater checks: honest raters and raters with bad habits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from assay.quality import GradeComparisons, Record, Timed

# What a rater does instead of reading: from the true grades, what they would have given, and a generator.
Habit = Callable[[Any, Any, np.random.Generator], Any]


def simulated(
    seed: int,
    *,
    raters: int = 6,
    queries: int = 40,
    documents: int = 12,
    k: int = 2,
    noise: float = 0.6,
    habits: dict[int, Habit] | None = None,
    hurried: tuple[int, ...] = (),
) -> Record:
    """A round in which queries differ, raters err and each one has a little bias of their own.

    A query is graded whole by k raters who are drawn. ``habits`` change what a rater gives; ``hurried`` ones take a
    second. Every rater has 200 gold pairs and 60 repeats.
    """
    rng = np.random.default_rng(seed)
    ease = rng.normal(0.0, 0.8, queries)
    true = np.clip(np.round(rng.normal(0.9 + ease[:, None], 1.0, (queries, documents))), 0, 3)
    bias = rng.normal(0.0, 0.1, raters)
    rows = []
    for query in range(queries):
        for rater in rng.choice(raters, k, replace=False).tolist():
            for document in rng.permutation(documents).tolist():
                rows.append((rater, query * documents + document, query, rng.random() * 0.9 + query))
    rows.sort(key=lambda row: (row[2], row[0]))
    rater, unit, query = (np.array([row[column] for row in rows]) for column in range(3))
    real = true.reshape(-1)[unit]

    def graded(rater: Any, real: Any) -> Any:
        return np.clip(np.round(real + bias[rater] + rng.normal(0.0, noise, len(real))), 0, 3).astype(np.int64)

    grade = graded(rater, real)
    known = np.repeat(np.arange(raters), 200)
    expected = rng.integers(0, 4, len(known))
    given = graded(known, expected)
    again = np.repeat(np.arange(raters), 60)
    first = graded(again, shown := rng.integers(0, 4, len(again)))
    second = graded(again, shown)
    for one, habit in (habits or {}).items():
        for who, real_, out in ((rater, real, grade), (known, expected, given), (again, shown, second)):
            mine = who == one
            out[mine] = habit(real_[mine], out[mine], rng)
    seconds = np.exp(rng.normal(np.log(9.0), 0.6, len(rater)))
    seconds[np.isin(rater, hurried)] = rng.uniform(0.3, 1.5, int(np.isin(rater, hurried).sum()))
    return Record(
        raters=tuple(f"r{number:02d}" for number in range(1, raters + 1)),
        scale=(0, 1, 2, 3),
        rater=rater,
        unit=unit,
        query=query,
        grade=grade,
        seconds=seconds,
        timed=Timed(rater, seconds, np.full(len(rater), 900.0)),
        gold=GradeComparisons(known, expected, given),
        repeats=GradeComparisons(again, first, second),
        within=1,
    )
