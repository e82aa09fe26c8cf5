"""Random draws of queries, with the inclusion probability and weight of each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import fsum
from random import Random
from typing import Any

from assay.core.errors import NotValid
from assay.core.result import Result
from assay.formats.queries import numbered_ids
from assay.sampling.query_table import LogQuery, frequencies_of
from assay.sampling.tiers import TIERS, TierCut

STRATIFIED = "stratified"
PPS = "pps"
METHODS = (STRATIFIED, PPS)


@dataclass(frozen=True, slots=True)
class SampledQuery:
    """One query of a sample."""

    query_id: str
    query: LogQuery
    tier: str
    probability: float
    weight: float


@dataclass(frozen=True, slots=True)
class Sample(Result):
    """A sample of queries with its design."""

    queries: tuple[SampledQuery, ...]
    design: str
    seed: int
    requested: dict[str, int]
    drawn: dict[str, int]
    frame: dict[str, int]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each query, with the columns of queries.csv."""
        return [
            {
                "query_id": one.query_id,
                "query": one.query.text,
                "tier": one.tier,
                "frequency": one.query.frequency,
                "clients": one.query.clients,
                "probability": one.probability,
                "weight": one.weight,
            }
            for one in self.queries
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the design and the queries."""
        design = {"design": self.design, "seed": self.seed, "frame": self.frame, "drawn": self.drawn}
        return {**design, "queries": self.to_rows()}

    @property
    def effective_size(self) -> float | None:
        """Return the effective sample size: (sum w/p)^2 / sum (w/p)^2; None when empty."""
        return effective_size([query.weight / query.probability for query in self.queries])


def effective_size(parts: Sequence[float]) -> float | None:
    """Return the effective sample size of queries with these w/p: (sum w/p)^2 / sum (w/p)^2; None for none.

    Examples
    --------
    >>> effective_size([0.5, 0.5]), effective_size([0.9, 0.1, 0.0]), effective_size([])
    (2.0, 1.2195121951219512, None)
    """
    squares = fsum(part * part for part in parts)
    return fsum(parts) ** 2 / squares if squares else None


def draw_stratified(cut: TierCut, sizes: Mapping[str, int], seed: int) -> Sample:
    """Draw at random, without replacement, a number of queries from each tier."""
    for name, size in sizes.items():
        if name not in TIERS or size < 0:
            raise NotValid(
                f"Cannot draw {size} queries from the tier {name!r}. Tiers: {', '.join(TIERS)}; sizes: 0 or more."
            )
    if not any(sizes.values()):
        raise NotValid("All sizes are 0. Draw at least one query from a tier.")
    drawn: dict[int, float] = {}
    for name in TIERS:
        members = _members(cut, name)
        size = min(sizes.get(name, 0), len(members))
        # One generator for each tier, so that a larger tail does not change the drawn head.
        for place in _shuffled(members, Random(f"{seed}:{name}"), size):  # noqa: S311
            drawn[place] = size / len(members)
    return _sample(cut, drawn, STRATIFIED, seed, {name: sizes.get(name, 0) for name in TIERS})


def draw_pps(cut: TierCut, n: int, seed: int) -> Sample:
    """Draw n queries, each with a probability in proportion to its traffic."""
    if n < 1:
        raise NotValid(f"n is {n}. Draw at least 1 query.", {"n": "At least 1."})
    frequencies = frequencies_of(cut.queries)
    probability = inclusion_probabilities(frequencies, n)
    certain = [place for place, p in enumerate(probability) if p == 1.0]
    random = Random(f"{seed}:{PPS}")  # noqa: S311
    rest = _shuffled([place for place, p in enumerate(probability) if p < 1.0], random)
    picked = certain + _systematic(rest, [frequencies[place] for place in rest], n - len(certain), random.random())
    return _sample(cut, {place: probability[place] for place in picked}, PPS, seed, {"all": n})


def inclusion_probabilities(sizes: Sequence[int], n: int) -> list[float]:
    """Return for each unit the probability that a draw of n, in proportion to size, includes it.

    Examples
    --------
    >>> inclusion_probabilities([80, 10, 10], 2)
    [1.0, 0.5, 0.5]
    """
    if n >= len(sizes):
        return [1.0] * len(sizes)
    certain: set[int] = set()
    while True:
        total = sum(size for place, size in enumerate(sizes) if place not in certain)
        left = n - len(certain)
        more = {place for place, size in enumerate(sizes) if place not in certain and left * size >= total}
        if not more:
            break
        certain |= more
    return [1.0 if place in certain else left * size / total for place, size in enumerate(sizes)]


def _systematic(places: list[int], sizes: list[int], n: int, start: float) -> list[int]:
    if not places:
        return []
    sums = list(accumulate(sizes))
    points = [(start + step) * sums[-1] / n for step in range(n)]
    # The last point can be rounded up to the total, after which there is no unit.
    return [places[min(bisect_right(sums, point), len(places) - 1)] for point in points]


def _members(cut: TierCut, name: str) -> range:
    """Return the positions of a tier's queries, which are contiguous."""
    begin = cut.tier.index(name) if name in cut.tier else 0
    return range(begin, begin + cut.tier.count(name))


def _shuffled(places: Sequence[int], random: Random, first: int | None = None) -> list[int]:
    """Sort by a random number each; `Random.random` is the only stream that Python guarantees to be stable."""
    import numpy as np

    keys = np.array([random.random() for _ in places], dtype=np.float64)
    order = np.lexsort((np.asarray(places, dtype=np.int64), keys))[:first]
    return [places[at] for at in order.tolist()]


def _sample(cut: TierCut, drawn: Mapping[int, float], design: str, seed: int, requested: dict[str, int]) -> Sample:
    places = sorted(drawn)
    ids = numbered_ids([cut.queries[place].text for place in places], of=f"{design} {seed}")
    queries = tuple(
        SampledQuery(
            ids[cut.queries[place].text],
            cut.queries[place],
            cut.tier[place],
            drawn[place],
            cut.queries[place].frequency / cut.traffic,
        )
        for place in places
    )
    tiers = [cut.tier[place] for place in places]
    return Sample(
        queries=queries,
        design=design,
        seed=seed,
        requested=requested,
        drawn={name: tiers.count(name) for name in TIERS},
        frame={name: cut.tier.count(name) for name in TIERS},
    )
