"""Is the simulated collection the same every time, and do strategies that learn find more of it than depth-k?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.side_by_side.simulated import OFFICIAL, WORLDS, Grades, collection
from judgments.core.run import Run
from pooling.strategies.pool import build_pool

SMALL = replace(WORLDS["2019"], runs=16, queries=16)
BUDGET, BATCH = 50, 5


@pytest.fixture(scope="module")
def world() -> tuple[list[Run], Grades]:
    return collection(SMALL, 1)


def found(world: tuple[list[Run], Grades], strategy: str) -> int:
    """How many relevant documents a strategy finds with 50 judgments a query, five at a time."""
    runs, grades = world
    judged: dict[tuple[str, str], float] = {}
    for _ in range(BUDGET // BATCH):
        pool = build_pool(runs, strategy, {"depth": SMALL.depth}, seed=1, budget=BATCH, judged=judged, relevant_from=2)
        judged |= {(pair.query_id, pair.doc_id): float(grades[pair.query_id][pair.doc_id]) for pair in pool.pairs}
    assert len(judged) == BUDGET * SMALL.queries
    return sum(grade >= 2 for grade in judged.values())


def test_a_world_hangs_on_its_seed(world: tuple[list[Run], Grades]) -> None:
    again, other = collection(SMALL, 1), collection(SMALL, 2)
    assert again == world
    assert other[0] != world[0]
    assert {len(run.ranking("q000")) for run in world[0]} == {SMALL.depth}


def test_every_world_has_official_numbers_to_be_held_against() -> None:
    assert WORLDS.keys() == OFFICIAL.keys()


@pytest.mark.parametrize("strategy", ["move-to-front", "thompson", "hedge"])
def test_learning_finds_more_than_depth(world: tuple[list[Run], Grades], strategy: str) -> None:
    assert found(world, strategy) > 1.05 * found(world, "depth")
