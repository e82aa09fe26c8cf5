"""Results of an evaluation: the scores of each run, and the diagnostics that qualify them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from assay.core.errors import NotValid
from assay.core.result import Result
from assay.metrics.metric import GEOMETRIC_FLOOR, Interval, MeanKind, effective_queries, hajek_mean, mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.core.qrels import MachineSource
    from assay.formats.row_types import QueryRow
    from assay.metrics.metric import BoundMetric
    from assay.scoring.diagnostics import Diagnostics
    from assay.scoring.intervals import Floats


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
                f"the stratum {name!r} has the share {shares[name]:g}, but {share or 0:g} for the query "
                f"{query_id!r}; use one share per stratum"
            )
    also = [
        DrawnQuery(row.query_id, place.stratum, place.tier, place.weight, place.probability)
        for row in rows
        for place in row.also
    ]
    strata = {row.query_id: row.stratum for row in rows if row.stratum}
    return {"strata": strata, "shares": shares, "also": also}, [row.query_id for row in rows if not row.stratum]


Value = TypeVar("Value")

TIERS = ("head", "torso", "tail")
# Files carry rounded shares: two ratios of weight to probability that differ by less are the same.
SAME_RATIO = 0.01


class DrawnQuery(NamedTuple):
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
        """Return the weight of each counted query in the mean; the weights sum to the share of each stratum. None if
        all queries of a stratum are left out, because its share of the traffic then has no mean.
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
    also: Sequence[DrawnQuery] = ()

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


Part = TypeVar("Part")


class Profile:
    """Seconds by kind of work, summed over threads and processes.

    Examples
    --------
    >>> profile = Profile()
    >>> with profile.part("matching"):
    ...     pass
    >>> list(profile.seconds), profile.seconds["matching"] < 1
    (['matching'], True)
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._lock = threading.Lock()

    def part(self, name: str) -> _Part:
        """Record the time of the enclosed work."""
        return _Part(self, name)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add times recorded elsewhere."""
        with self._lock:
            for name, spent in seconds.items():
                self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def each(self, name: str, parts: Iterable[Part]) -> Iterator[Part]:
        """Pass parts on and record the time to get them."""
        waiting = iter(parts)
        while True:
            with self.part(name):
                part = next(waiting, None)
            if part is None:
                return
            yield part


class _Part:
    """Context manager for a kind of work; contextlib would take longer than a small piece of work."""

    __slots__ = ("_begin", "_name", "_profile")

    def __init__(self, profile: Profile, name: str) -> None:
        self._profile, self._name = profile, name

    def __enter__(self) -> None:
        self._begin = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._profile.add({self._name: time.perf_counter() - self._begin})


def summarize(
    values: Floats,
    kinds: Sequence[MeanKind],
    query_ids: Sequence[str],
    *,
    design: SamplingDesign | None = None,
    bounded: Sequence[bool] | None = None,
    level: float | None = None,
    method: str = "percentile",
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Summary]:
    """Summarize columns of values over all their queries.

    Examples
    --------
    >>> import numpy as np
    >>> (one,) = summarize(np.array([[1.0], [0.5], [np.nan]]), ["arithmetic"], ["q1", "q2", "q3"])
    >>> one.mean, one.queries
    (0.75, 2)
    """
    plan = design or SamplingDesign()
    weights, strata, units = plan.weights_of(query_ids), plan.strata_of(query_ids), plan.units_of(query_ids)
    intervals = partial(
        _intervals, kinds=kinds, bounded=bounded, level=level, method=method, resamples=resamples, seed=seed
    )
    plain = intervals(values)
    weighted: Sequence[Interval | None] = [None] * len(kinds)
    if units is not None:
        weighted = intervals(
            values[units.rows], weights=units.weights, strata=units.cells, parts=units.strata, shares=units.shares
        )
    elif weights is not None:
        weighted = intervals(values, weights=weights, strata=strata)
    return [
        _summary(values[:, at].tolist(), kinds[at], plain[at], weights, weighted[at], units)
        for at in range(values.shape[1])
    ]


def summarize_tiers(
    values: Floats,
    kinds: Sequence[MeanKind],
    query_ids: Sequence[str],
    *,
    design: SamplingDesign,
    bounded: Sequence[bool] | None = None,
    level: float | None = None,
    method: str = "percentile",
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[str, list[Summary]]:
    """Summarize columns of values within each tier; parameters and errors are those of `summarize`."""
    tiers = design.tiers_of(query_ids)
    if tiers is None or not design.by_tier:
        return {}
    by_tier = {}
    settings = {"bounded": bounded, "level": level, "method": method, "resamples": resamples, "seed": seed}
    for tier in sorted(set(tiers), key=lambda name: ((*TIERS, name).index(name), name)):
        rows = [at for at, name in enumerate(tiers) if name == tier]
        ids = [query_ids[at] for at in rows]
        by_tier[tier] = summarize(values[rows], kinds, ids, design=design.of_tier(query_ids, tier), **settings)  # type: ignore[arg-type]
    units = design.units_of(query_ids)
    for stratum in sorted(units.shares) if units is not None and len(units.shares) > 1 else ():
        ids, its = design.of_stratum(query_ids, stratum)
        rows = [at for at, name in enumerate(query_ids) if name in set(ids)]
        by_tier[f"stratum {stratum}"] = summarize(values[rows], kinds, ids, design=its, **settings)  # type: ignore[arg-type]
    return by_tier


def _intervals(
    values: Floats,
    kinds: Sequence[MeanKind],
    *,
    bounded: Sequence[bool] | None,
    level: float | None,
    method: str,
    resamples: int,
    seed: int,
    weights: Sequence[float] | None = None,
    strata: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    shares: Mapping[str, float] | None = None,
) -> list[Interval]:
    if level is None:
        return [Interval(None, None)] * len(kinds)
    from assay.scoring.intervals import mean_intervals

    return mean_intervals(
        values,
        level,
        method=method,
        resamples=resamples,
        seed=seed,
        weights=weights,
        strata=strata,
        kinds=kinds,
        bounded=bounded,
        parts=parts,
        shares=shares,
    )


def _summary(
    column: list[float],
    kind: MeanKind,
    plain: Interval,
    weights: Sequence[float] | None,
    weighted: Interval | None,
    units: Units | None,
) -> Summary:
    counted = [at for at, value in enumerate(column) if value == value]
    values = [column[at] for at in counted]
    if not values:
        return Summary(None, 0, reason="the run answers none of the queries that count")
    plain_summary = Summary(mean(values, kind), len(values), low=plain.low, high=plain.high, reason=plain.reason)
    if weights is None or weighted is None:
        return plain_summary
    theirs = [weights[at] for at in counted] if units is None else units.coefficients(counted)
    if theirs is None:
        reason = "a stratum has no query that counts, so its share of the traffic has no mean"
        return replace(plain_summary, weighted_reason=reason)
    weighted_mean = hajek_mean(values, theirs, kind)
    return replace(
        plain_summary,
        weighted=weighted_mean,
        weighted_low=weighted.low,
        weighted_high=weighted.high,
        weighted_reason=_why_none(kind) if weighted_mean is None else weighted.reason,
        effective_queries=effective_queries(theirs),
    )


def _why_none(kind: MeanKind) -> str:
    return "a sum has no weighted form" if kind == "sum" else "the weights of the queries that count sum to 0"


MOST_NAMED = 6


@dataclass(frozen=True)
class Summary:
    """A metric of a run over a set of queries."""

    mean: float | None
    queries: int
    low: float | None = None
    high: float | None = None
    weighted: float | None = None
    weighted_low: float | None = None
    weighted_high: float | None = None
    reason: str | None = None
    weighted_reason: str | None = None
    effective_queries: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values; fields of a design and reasons only if present."""
        plain: dict[str, Any] = {
            "mean": self.mean,
            "queries": self.queries,
            "low": self.low,
            "high": self.high,
            "weighted": self.weighted,
        }
        if self.weighted_low is not None:
            plain |= {"weighted_low": self.weighted_low, "weighted_high": self.weighted_high}
        rest = {
            "effective_queries": self.effective_queries,
            "reason": self.reason,
            "weighted_reason": self.weighted_reason,
        }
        return plain | {name: value for name, value in rest.items() if value is not None}


@dataclass(frozen=True, eq=False)
class RunScores:
    """All metrics of a run."""

    name: str
    metrics: dict[str, Summary]
    per_query: dict[str, npt.NDArray[np.float64]]
    diagnostics: Diagnostics
    by_tier: dict[str, dict[str, Summary]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Evaluation(Result):
    """The scores of several runs against one set of labels."""

    query_ids: tuple[str, ...]
    metrics: tuple[str, ...]
    runs: tuple[RunScores, ...]
    effective_queries: float | None = None
    bound: tuple[BoundMetric, ...] = ()
    unreached: Mapping[str, float] = field(default_factory=dict)
    machine: MachineSource | None = None

    @property
    def unreached_notes(self) -> list[str]:
        """Return which metrics are 0 for any run, one sentence for each threshold."""
        notes = []
        for level in sorted(set(self.unreached.values())):
            names = [name for name, one in self.unreached.items() if one == level]
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            listed = ", ".join(names[:MOST_NAMED]) + more
            notes.append(
                f"no grade in the qrels reaches {level:g}, the lowest relevant grade for {listed}, so the scores "
                "are 0; map the grades, or set a lower threshold, as in P(rel=0.3)@10"
            )
        return notes

    def tested(self, run: RunScores, metric: str) -> npt.NDArray[np.float64]:
        """Return the values whose mean is compared: logarithms if the metric's mean is geometric."""
        values = run.per_query[metric]
        if not any(one.name == metric and one.metric.mean == "geometric" for one in self.bound):
            return values
        import numpy as np

        return np.log(np.maximum(values, GEOMETRIC_FLOOR))

    def query_values(self, run: RunScores) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {metric: value}}`` of one run, without the queries that were left out."""
        columns = {name: run.per_query[name].tolist() for name in self.metrics}
        return {
            query_id: values
            for at, query_id in enumerate(self.query_ids)
            if (values := {name: column[at] for name, column in columns.items() if column[at] == column[at]})
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each run and metric: the mean with its interval and number of queries."""
        return [
            {
                "run": run.name,
                "metric": name,
                "mean": summary.mean,
                "low": summary.low,
                "high": summary.high,
                "queries": summary.queries,
                "weighted": summary.weighted,
                "reason": summary.reason,
            }
            for run in self.runs
            for name, summary in run.metrics.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics, and each run as in ``assay evaluate --format json``."""
        machine = {"machine": self.machine.judge} if self.machine else {}
        return {"metrics": list(self.metrics), **machine, "runs": self.as_json()}

    def as_json(self) -> list[dict[str, Any]]:
        """Return one object per run, as in ``runs`` of ``assay evaluate --format json``."""
        return [
            {
                "name": run.name,
                "metrics": {name: summary.as_json() for name, summary in run.metrics.items()},
                "by_tier": {
                    tier: {name: summary.as_json() for name, summary in metrics.items()}
                    for tier, metrics in run.by_tier.items()
                },
                "per_query": self.query_values(run),
                "diagnostics": run.diagnostics.as_json(),
            }
            for run in self.runs
        ]
