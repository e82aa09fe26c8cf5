"""A comparison broken down by other metrics, by tier and by traffic."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.cache import cache

from evaluation.comparison.comparison import DAY, Comparison, Difference, common, report, tested, values_of
from evaluation.scoring.scoring import LEVEL
from evaluation.scoring.stored_scores import SEED, tier_place

# Above this number of queries, a hundred thousand draws for each of several metrics would take too long.
MOST_DRAWN = 2_000
# With this many query-metric combinations, the computation takes a few seconds.
MOST_DRAWN_TOGETHER = 6 * MOST_DRAWN
NOT_DRAWN = "computed for one metric at a time when there are many queries or metrics"


def exploratory(comparison: Comparison, metrics: Iterable[str]) -> list[dict[str, Any]]:
    """Compare the two runs under other metrics, each over the queries that both runs have values for."""
    a, b = comparison.a, comparison.b
    names = [name for name in metrics if name != comparison.metric]
    values = values_of([a, b], names)
    design = comparison.drawn.design if comparison.weighted and comparison.drawn else None
    rows = []
    for name in names:
        if both := common(values, a, b, name, comparison.withheld):
            columns = {one.run.name: [values[one.pk, name][query_id] for query_id in both] for one in (a, b)}
            if drawn_at_once(len(both), len(names)):
                rows.append(report(name, both, columns, design)["pairs"][0])
            else:
                rows.append(_not_drawn(name, columns, design.weights_of(both) if design else None))
    return rows


def drawn_at_once(queries: int, metrics: int) -> bool:
    """Return whether a page about another metric can afford the draws for these metrics."""
    return queries <= MOST_DRAWN and queries * metrics <= MOST_DRAWN_TOGETHER


def _not_drawn(metric: str, columns: Mapping[str, list[float]], weights: list[float] | None) -> dict[str, Any]:
    """Return a comparison without p-value and interval."""
    import numpy as np

    from assay.significance.results import PairComparison, effect

    (a, first), (b, second) = columns.items()
    counted = np.array(weights) > 0 if weights else np.ones(len(first), dtype=bool)
    weights = np.array(weights)[counted].tolist() if weights else None
    size = effect(tested(metric, first)[counted], tested(metric, second)[counted], weights)
    return PairComparison(metric, a, b, size, None, None, None, None, int(counted.sum()), NOT_DRAWN).as_json()


def by_traffic(comparison: Comparison) -> dict[str, Any] | None:
    """Compare the runs with each query weighted by its traffic; return None if a weight is missing or there are too
    many queries."""
    if comparison.drawn is None or comparison.drawn.reason or len(comparison.differences) > MOST_DRAWN:
        return None
    ordered = comparison.ordered
    columns = {comparison.a.run.name: [one.a for one in ordered], comparison.b.run.name: [one.b for one in ordered]}
    ids = [one.query_id for one in ordered]
    pairs: list[dict[str, Any]] = report(comparison.metric, ids, columns, comparison.drawn.design)["pairs"]
    return pairs[0]


def by_tier(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the mean difference over the queries of each tier, with its interval, head first."""
    rows = []
    for tier in sorted(set(comparison.tiers.values()), key=tier_place):
        of = [one for one in comparison.ordered if comparison.tiers.get(one.query_id) == tier]
        weights = _weights(comparison, of)
        # A query without traffic weight is in no weighted mean.
        counted = [one for at, one in enumerate(of) if not weights or weights[at] > 0]
        if counted:
            rows.append({"tier": tier, **_of_tier(comparison, counted)})
    return rows


def _of_tier(comparison: Comparison, of: list[Difference]) -> dict[str, Any]:
    weights = _weights(comparison, of)
    content = json.dumps([comparison.metric, [one.a for one in of], [one.b for one in of], weights])
    key = f"tier:{hashlib.sha256(content.encode()).hexdigest()}"
    difference: dict[str, Any] | None = cache.get(key)
    if difference is None:
        difference = _difference(comparison.metric, of, weights)
        cache.set(key, difference, DAY)
    return difference


def _weights(comparison: Comparison, of: list[Difference]) -> list[float] | None:
    if not comparison.weighted or comparison.drawn is None:
        return None
    return comparison.drawn.design.weights_of([one.query_id for one in of])


def _difference(metric: str, of: list[Difference], weights: list[float] | None) -> dict[str, Any]:
    import numpy as np

    from assay.significance.intervals import difference_intervals
    from assay.significance.results import effect

    scores = np.column_stack([tested(metric, [one.a for one in of]), tested(metric, [one.b for one in of])])
    (interval,) = difference_intervals(scores, [(0, 1)], level=LEVEL, seed=SEED, weights=weights)
    size = effect(scores[:, 0], scores[:, 1], weights)
    return {
        "difference": size.difference,
        "low": interval.low,
        "high": interval.high,
        "queries": len(scores),
        "wins": size.wins,
        "ties": size.ties,
        "losses": size.losses,
        "reason": interval.reason,
    }
