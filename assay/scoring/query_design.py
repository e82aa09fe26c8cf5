"""Sampling design: the weight, the tier and the inclusion probability of each query in a mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.formats.row_types import QueryRow


def strata_of_rows(rows: Sequence[QueryRow]) -> tuple[dict[str, Any], list[str]]:
    """Read strata, their shares and additional places for `SamplingDesign`."""
    if not any(row.stratum for row in rows):
        return {}, []
    shares: dict[str, float] = {}
    memberships = [(row.query_id, row.stratum, row.share) for row in rows if row.stratum]
    memberships += [(row.query_id, place.stratum, place.share) for row in rows for place in row.also]
    for query_id, name, share in memberships:
        if shares.setdefault(name, share or 0.0) != share:
            raise NotValid(
                f"the stratum {name!r} has the share {shares[name]:g}, but {share or 0:g} at the query "
                f"{query_id!r}; use one share per stratum"
            )
    also = [
        Place(row.query_id, place.stratum, place.tier, place.weight, place.probability)
        for row in rows
        for place in row.also
    ]
    strata = {row.query_id: row.stratum for row in rows if row.stratum}
    return {"strata": strata, "shares": shares, "also": also}, [row.query_id for row in rows if not row.stratum]


Value = TypeVar("Value")

TIERS = ("head", "torso", "tail")
# Files carry rounded shares: two ratios of weight to probability that differ by less are the same.
SAME_RATIO = 0.01


class Place(NamedTuple):
    """A query's role in a stratum: its share w of the stratum's traffic, and its inclusion probability p."""

    query_id: str
    stratum: str
    tier: str
    weight: float
    probability: float


@dataclass(frozen=True)
class Units:
    """The places of some queries, as columns; a query that was drawn in two strata appears twice."""

    rows: list[int]
    weights: list[float]
    cells: list[str]
    strata: list[str]
    shares: dict[str, float]

    def coefficients(self, counted: Sequence[int]) -> list[float] | None:
        """Return the weight of each counted query in the mean, which sum to the share of each stratum. None if all
        queries of a stratum are left out, because its share of the traffic then has no mean.
        """
        place_of = {row: place for place, row in enumerate(counted)}
        left = [at for at, row in enumerate(self.rows) if row in place_of]
        totals = _totals([self.strata[at] for at in left], [self.weights[at] for at in left])
        if any(not totals.get(name) for name in self.shares):
            return None
        weights = [0.0] * len(counted)
        for at in left:
            name = self.strata[at]
            weights[place_of[self.rows[at]]] += self.shares[name] * self.weights[at] / totals[name]
        return weights


@dataclass(frozen=True, kw_only=True)
class SamplingDesign:
    """How the judged queries were drawn from the traffic.

    Examples
    --------
    >>> weights, drawn = {"q1": 0.6, "q2": 0.1}, {"q1": 1.0, "q2": 0.5}
    >>> SamplingDesign(weights=weights, probabilities=drawn).weights_of(["q2", "q1"])
    [0.2, 0.6]
    >>> SamplingDesign(weights=weights, sampled=False).weights_of(["q2", "q1"])
    [0.1, 0.6]
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    probabilities: Mapping[str, float] = field(default_factory=dict)
    tiers: Mapping[str, str] = field(default_factory=dict)
    by_tier: bool = False
    sampled: bool = True
    strata: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    also: Sequence[Place] = ()

    def __post_init__(self) -> None:
        self._check_strata()
        for query_id, weight in self.weights.items():
            if not (math.isfinite(weight) and weight >= 0):
                raise NotValid(
                    f"the query {query_id!r} has the weight {weight:g}; expected a share of traffic, 0 or more"
                )
        for query_id, probability in self.probabilities.items():
            if not 0 < probability <= 1:
                raise NotValid(f"the query {query_id!r} has the probability {probability:g}; expected above 0, up to 1")
        if self.sampled:
            self._refuse_bare_weights()
        elif any(in_proportion(self.weights, self.probabilities, inside) for inside in (None, self.tiers)):
            raise NotValid(
                "these queries were drawn in proportion to their traffic (the probabilities follow the weights), "
                "so their unweighted mean is already the traffic-weighted mean, except for queries so frequent "
                "that they were certain to be drawn. The weights alone would count the traffic twice. Use the "
                "sampled design: weight / probability counts it once"
            )

    def _check_strata(self) -> None:
        for name in {*self.strata.values(), *(place.stratum for place in self.also)}:
            share = self.shares.get(name)
            if share is None or not (math.isfinite(share) and share > 0):
                problem = "no share of the traffic" if share is None else f"the share {share:g}"
                raise NotValid(f"the stratum {name!r} has {problem}; expected a number above 0")
        for place in self.also:
            if place.query_id not in self.strata or not (place.weight >= 0 and 0 < place.probability <= 1):
                raise NotValid(
                    f"the query {place.query_id!r} cannot also be in {place.stratum!r}: expected a different "
                    "stratum, a weight of 0 or more, and a probability above 0, up to 1"
                )

    def _refuse_bare_weights(self) -> None:
        bare = next((query_id for query_id in self.weights if query_id not in self.probabilities), None)
        if bare is not None:
            raise NotValid(
                f"the query {bare!r} has a weight but no inclusion probability: if the queries were drawn in "
                "proportion to their traffic, the weight would count it twice. Add the probability of each "
                "query, or declare that the queries were not sampled (sampled=False, --design none)"
            )

    def weights_of(self, query_ids: Sequence[str]) -> list[float] | None:
        """Return the weight of each given query in the mean, or None without weights."""
        if not self.strata or not (self.sampled and self.probabilities):
            return self._ratios(query_ids)
        units = self.units_of(query_ids)
        weights = None if units is None else units.coefficients(range(len(query_ids)))
        # Without traffic in a stratum, no mean is meaningful; zeros mark this for callers.
        return [0.0] * len(query_ids) if weights is None else weights

    def _ratios(self, query_ids: Sequence[str]) -> list[float] | None:
        if not self.sampled:
            return [_of(self.weights, query_id, "weight") for query_id in query_ids] if self.weights else None
        if not self.probabilities:
            return None
        shares = self.weights or dict.fromkeys(self.probabilities, 1.0)
        return [
            _of(shares, query_id, "weight") / _of(self.probabilities, query_id, "probability") for query_id in query_ids
        ]

    def units_of(self, query_ids: Sequence[str]) -> Units | None:
        """Return the places of the given queries in their strata; None for a design without strata or weights."""
        ratios = self._ratios(query_ids) if self.strata and self.sampled else None
        if ratios is None:
            return None
        row_of = {query_id: row for row, query_id in enumerate(query_ids)}
        own = [_of(self.strata, query_id, "stratum") for query_id in query_ids]
        more = [place for place in self.also if place.query_id in row_of]
        tiers = [self.tiers.get(query_id, "") for query_id in query_ids] + [place.tier for place in more]
        strata = own + [place.stratum for place in more]
        # If the sample was drawn from the whole stratum in proportion to traffic, tiers were assigned only afterward.
        at_once = {name for name in set(own) if in_proportion(*self._inside(name))}
        cells = [
            stratum if stratum in at_once or not tier else f"{stratum} {tier}"
            for stratum, tier in zip(strata, tiers, strict=True)
        ]
        return Units(
            rows=[*range(len(own)), *(row_of[place.query_id] for place in more)],
            weights=ratios + [place.weight / place.probability for place in more],
            cells=cells,
            strata=strata,
            shares={name: self.shares[name] for name in dict.fromkeys(strata)},
        )

    def _inside(self, stratum: str) -> tuple[dict[str, float], dict[str, float]]:
        """Return the weights and probabilities of a stratum's own queries."""
        mine = [query_id for query_id, name in self.strata.items() if name == stratum]
        tables = (self.weights, self.probabilities)
        weights, chances = ({one: table[one] for one in mine if one in table} for table in tables)
        return weights, chances

    def of_tier(self, query_ids: Sequence[str], tier: str) -> SamplingDesign:
        """Return the design of the traffic of one tier: of each stratum, the share that its queries there represent."""
        units = self.units_of(query_ids)
        if units is None:
            return self
        inside = [self.tiers.get(query_id, "") == tier for query_id in query_ids]
        inside += [place.tier == tier for place in self.also if place.query_id in set(query_ids)]
        whole = _totals(units.strata, units.weights)
        members = [(of, weight) for of, weight, its in zip(units.strata, units.weights, inside, strict=True) if its]
        part = _totals([of for of, _ in members], [weight for _, weight in members])
        shares = {name: units.shares[name] * part[name] / whole[name] for name in part if part[name] > 0}
        also = [place for place in self.also if place.tier == tier and place.stratum in shares]
        return replace(self, shares={**self.shares, **shares}, also=also)

    def of_stratum(self, query_ids: Sequence[str], stratum: str) -> tuple[list[str], SamplingDesign]:
        """Return the given queries that were drawn in a stratum, and the design of that stratum alone."""
        places = {place.query_id: place for place in self.also if place.stratum == stratum}
        mine = [one for one in query_ids if self.strata.get(one) == stratum or one in places]

        def own(table: Mapping[str, Value], name: str) -> dict[str, Value]:
            return {one: getattr(places[one], name) if one in places else table[one] for one in mine if one in table}

        return mine, SamplingDesign(
            weights=own(self.weights, "weight"),
            probabilities=own(self.probabilities, "probability"),
            tiers=own(self.tiers, "tier"),
            sampled=self.sampled,
        )

    def tiers_of(self, query_ids: Sequence[str]) -> list[str] | None:
        """Return the tiers of the given queries, or None when the design has none."""
        return [_of(self.tiers, query_id, "tier") for query_id in query_ids] if self.tiers else None

    def strata_of(self, query_ids: Sequence[str]) -> list[str] | None:
        """Return the parts of the traffic from which the queries were drawn, or None if all were drawn from the whole.
        A query that was drawn in several strata is in its first; `units_of` returns all."""
        units = self.units_of(query_ids)
        if units is not None:
            return units.cells[: len(query_ids)]
        if self.sampled and self.weights and in_proportion(self.weights, self.probabilities):
            return None
        return self.tiers_of(query_ids)


def in_proportion(
    weights: Mapping[str, float], probabilities: Mapping[str, float], tiers: Mapping[str, str] | None = None
) -> bool:
    """Return whether the queries that could have been missed were drawn in proportion to their weights.

    Examples
    --------
    >>> in_proportion({"a": 0.5, "b": 0.2, "c": 0.1}, {"a": 1.0, "b": 0.4, "c": 0.2})
    True
    >>> in_proportion({"a": 0.5, "b": 0.2, "c": 0.1}, {"a": 1.0, "b": 0.3, "c": 0.3})
    False
    """
    inside: dict[str, list[str]] = {}
    for query_id, probability in probabilities.items():
        if probability < 1 and weights.get(query_id, 0.0) > 0:
            inside.setdefault(tiers.get(query_id, "") if tiers else "", []).append(query_id)
    groups = list(inside.values())
    constant = all(_alike(weights[one] / probabilities[one] for one in group) for group in groups)
    return constant and any(not _alike(weights[one] for one in group) for group in groups)


def _totals(names: Sequence[str], weights: Sequence[float]) -> dict[str, float]:
    parts: dict[str, list[float]] = {}
    for name, weight in zip(names, weights, strict=True):
        parts.setdefault(name, []).append(weight)
    return {name: math.fsum(part) for name, part in parts.items()}


def _alike(values: Iterable[float]) -> bool:
    numbers = list(values)
    return max(numbers) <= min(numbers) * (1 + SAME_RATIO)


def _of(table: Mapping[str, Value], query_id: str, what: str) -> Value:
    if query_id not in table:
        raise NotValid(f"the judged query {query_id!r} has no {what}; add it to the weights file")
    return table[query_id]
