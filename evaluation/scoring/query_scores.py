"""Scores of each run for one query, under every metric and on every snapshot."""

from __future__ import annotations

from collections.abc import Collection as Container
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.models import Score
from judgments.models import Query, Snapshot
from pooling.models import Run


@dataclass(frozen=True)
class Value:
    """A metric's value for the query; ``state`` is ``scored``, ``unscored``, ``undefined`` or ``withheld``."""

    state: str
    value: float | None = None
    metric: str = ""


def by_metric(
    snapshot: Snapshot, query: Query, runs: Sequence[Run], metrics: Sequence[str], *, withheld: bool
) -> list[tuple[Run, list[Value]]]:
    """Return each run with its values under every metric on the snapshot; ``withheld`` hides all of them."""
    rows = Score.objects.filter(scoring__snapshot=snapshot, scoring__run__in=runs, metric__in=metrics)
    scores = {(row.scoring.run_id, row.metric): row for row in rows.select_related("scoring")}
    return [(run, [_value(scores.get((run.pk, name)), query, withheld) for name in metrics]) for run in runs]


def by_snapshot(
    snapshots: Sequence[Snapshot], query: Query, runs: Sequence[Run], metric: str, *, withheld: Container[int]
) -> list[tuple[Run, list[Value]]]:
    """Return each run with its value under one metric on each snapshot; ``withheld`` contains hidden snapshots."""
    rows = Score.objects.filter(scoring__snapshot__in=snapshots, scoring__run__in=runs, metric=metric)
    scores = {(row.scoring.run_id, row.scoring.snapshot_id): row for row in rows.select_related("scoring")}
    return [
        (run, [_value(scores.get((run.pk, one.pk)), query, one.pk in withheld) for one in snapshots]) for run in runs
    ]


def as_json(lines: Sequence[tuple[Run, list[Value]]], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the value by run and name; null if it is missing or hidden."""
    return {run.name: {name: one.value for name, one in zip(names, values, strict=True)} for run, values in lines}


def _value(row: Score | None, query: Query, withheld: bool) -> Value:
    if row is None or query.query_id not in row.per_query:
        return Value("unscored")
    if withheld:
        return Value("withheld")
    value = row.per_query[query.query_id]
    return Value("undefined" if value is None else "scored", value, row.metric)
