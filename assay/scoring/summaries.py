"""Summaries of metric values: means and intervals, overall and by tier."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from assay.metrics.means import Interval, MeanKind, effective_queries, hajek_mean, mean
from assay.scoring.query_design import TIERS, SamplingDesign, Units
from assay.scoring.results import Summary

if TYPE_CHECKING:
    from assay.scoring.intervals import Floats


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
