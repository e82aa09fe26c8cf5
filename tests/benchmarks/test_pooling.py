"""Tests of the simulated collection: reproducibility, and adaptive strategies against depth-k."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.core.run import Run
from assay.strategies.pool import build_pool
from benchmarks.side_by_side.simulated import OFFICIAL, WORLDS, Grades, collection

SMALL = replace(WORLDS["2019"], runs=16, queries=16)
BUDGET, BATCH = 50, 5


@pytest.fixture(scope="module")
def world() -> tuple[list[Run], Grades]:
    return collection(SMALL, 1)


def recall_of(world: tuple[list[Run], Grades], strategy: str) -> int:
    """How many relevant documents a strategy finds with 50 judgments a query, five at a time."""
    runs, grades = world
    judged: dict[tuple[str, str], float] = {}
    for _ in range(BUDGET // BATCH):
        pool = build_pool(runs, strategy, {"depth": SMALL.depth}, seed=1, budget=BATCH, judged=judged, relevant_from=2)
        judged |= {(pair.query_id, pair.doc_id): float(grades[pair.query_id][pair.doc_id]) for pair in pool.pairs}
    assert len(judged) == BUDGET * SMALL.queries
    return sum(grade >= 2 for grade in judged.values())


def test_simulated_data_depend_on_the_seed(world: tuple[list[Run], Grades]) -> None:
    again, other = collection(SMALL, 1), collection(SMALL, 2)
    assert again == world
    assert other[0] != world[0]
    assert {len(run.ranking("q000")) for run in world[0]} == {SMALL.depth}


def test_every_simulation_has_reference_numbers() -> None:
    assert WORLDS.keys() == OFFICIAL.keys()


@pytest.mark.parametrize("strategy", ["move-to-front", "thompson", "hedge"])
def test_learning_finds_more_than_depth(world: tuple[list[Run], Grades], strategy: str) -> None:
    assert recall_of(world, strategy) > 1.05 * recall_of(world, "depth")
