"""Simulated runs and grades like those of TREC's deep learning tracks.

A world has queries with known relevant documents, and runs in families. The score that a run gives a document
combines the document's relevance (more clearly in a better run, and with luck that varies by query), a part shared by
all runs, a part shared by the run's family, and noise. The sizes and weights were chosen so that, at 50 judgments per
query, strategies find about as much as on the official runs of 2019, 2020 and 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.run import Run

TOP_GRADE = 3
FAMILIES = 6
Grades = dict[str, dict[str, int]]


@dataclass(frozen=True)
class World:
    """The sizes and weights of a collection.

    Parameters
    ----------
    runs, queries, documents : int
        How many; documents are those of one query.
    relevant, spread : float
        The middle number of relevant documents of a query, and the deviation of its logarithm.
    depth : int
        How many documents a run returns.
    quality, between, luck : float
        How clearly runs see relevance; how much they differ; how much one run differs from query to query.
    lost : float
        How often a family of runs does not understand a query at all.
    common, family, own : float
        How much all runs, the runs of a family, and each run alone err about a document.
    """

    runs: int
    queries: int
    documents: int
    relevant: float
    spread: float
    depth: int
    quality: float
    between: float
    luck: float
    lost: float
    common: float
    family: float
    own: float


# What the official runs gave at 50 judgments a query: the share of relevant documents that depth-k, RBP .8, move to
# front and Thompson sampling found, and what nobody could beat.
WORLDS = {
    "2019": World(37, 43, 139, 38.4, 0.71, 65, 0.808, 0.279, 0.304, 0.442, 0.366, 0.602, 0.363),
    "2020": World(59, 54, 160, 17.4, 0.70, 75, 0.894, 0.262, 0.490, 0.380, 0.454, 0.665, 0.380),
    "2021": World(63, 53, 180, 50.0, 0.55, 92, 0.903, 0.244, 0.420, 0.521, 0.415, 0.667, 0.340),
}
OFFICIAL = {
    "2019": {"depth": 0.58, "rbp": 0.62, "move-to-front": 0.70, "thompson": 0.68, "oracle": 0.88},
    "2020": {"depth": 0.65, "rbp": 0.70, "move-to-front": 0.75, "thompson": 0.74, "oracle": 0.97},
    "2021": {"depth": 0.42, "rbp": 0.49, "move-to-front": 0.53, "thompson": 0.50, "oracle": 0.82},
}


def collection(world: World, seed: int) -> tuple[list[Run], Grades]:
    """Draw the runs and the grades of a world."""
    rng = np.random.default_rng(seed)
    quality = np.maximum(rng.normal(world.quality, world.between, world.runs), 0.05)
    answers: list[dict[str, dict[str, float]]] = [{} for _ in range(world.runs)]
    grades: Grades = {}
    for query in range(world.queries):
        query_id = f"q{query:03d}"
        grade = _grades(world, rng)
        seen = _seen(world, rng, quality, grade)
        for run, scores in enumerate(seen):
            best = np.argsort(-scores)[: world.depth]
            answers[run][query_id] = {f"d{at}": float(scores[at]) for at in best.tolist()}
        grades[query_id] = {f"d{at}": int(grade[at]) for at in range(world.documents)}
    return [Run.from_dict(rankings, f"s{at:02d}") for at, rankings in enumerate(answers)], grades


def _grades(world: World, rng: np.random.Generator) -> np.ndarray:
    """Grades 2 and 3 are relevant; some of the others are near misses."""
    wanted = world.relevant * np.exp(rng.normal(0.0, world.spread))
    relevant = int(np.clip(round(wanted), 2, 0.7 * world.documents))
    grade = np.zeros(world.documents, dtype=np.int64)
    grade[:relevant] = rng.choice([2, TOP_GRADE], relevant, p=[0.6, 0.4])
    grade[relevant:] = rng.choice([0, 1], world.documents - relevant, p=[0.7, 0.3])
    return grade


def _seen(world: World, rng: np.random.Generator, quality: np.ndarray, grade: np.ndarray) -> np.ndarray:
    """What each run makes of each document, shape (runs, documents)."""
    worth = np.array([-0.25, 0.15, 0.9, 1.1])[grade] + rng.normal(0.0, world.common, world.documents)
    clear = np.maximum(quality + rng.normal(0.0, world.luck, world.runs), -0.3)
    family = np.arange(world.runs) % FAMILIES
    clear[(rng.random(FAMILIES) < world.lost)[family]] = 0.0
    families = rng.normal(0.0, world.family, (FAMILIES, world.documents))
    noise = rng.normal(0.0, world.own, (world.runs, world.documents))
    seen: np.ndarray = clear[:, None] * worth + families[family] + noise
    return seen
