"""Runs for computing effects of a round's labels, and cache keys of the round's state."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Set
from typing import Any

from assay.core.errors import NotValid
from assay.core.run import Run as RankedRun
from assay.core.text_rules import amount
from assay.metrics.metric import BoundMetric
from evaluation.models import Score
from evaluation.scoring.scoring import in_order
from judgments.agreement.round_report import events
from judgments.models import Adjudication, Collection, Round
from pooling.models import Run
from pooling.runs import runs as stored_runs

METRIC = "nDCG@10"
# Runs are read completely. More rows than this take too long for a page, and the larger limit protects a worker's
# memory.
ROWS_AT_ONCE, ROWS_BY_JOB = 2_000_000, 20_000_000
# The grades of a round are read completely too, and again after every new grade.
GRADES_AT_ONCE = 100_000


def runs_of(whole: Round | Collection) -> list[Run]:
    """Return the runs that a round's labels apply to, or all runs of the collection, by name."""
    runs = all_runs(whole)
    if (rows := _rows(runs)) > ROWS_AT_ONCE:
        raise NotValid(f"The runs have {amount(rows, 'row')} together, too many for this page.")
    return runs


def runs_by_job(whole: Round | Collection) -> list[Run]:
    """Return the same runs for a job, which may take longer."""
    runs = all_runs(whole)
    if (rows := _rows(runs)) > ROWS_BY_JOB:
        raise NotValid(f"The runs have {amount(rows, 'row')} together. The limit is {ROWS_BY_JOB:,}.")
    return runs


def all_runs(whole: Round | Collection) -> list[Run]:
    """Return the same runs without a size limit. Runs rank documents, so a round of answers has none."""
    if isinstance(whole, Round) and whole.of_answers:
        return []
    collection = whole.collection if isinstance(whole, Round) else whole
    return list(collection.runs.defer("report", "health").order_by("name"))


def _rows(runs: list[Run]) -> int:
    return sum(run.rows for run in runs)


def answering_tables(runs: Iterable[Run], query_ids: Set[str]) -> list[RankedRun]:
    """Return the rankings of the runs that have results for any of these queries."""
    return [table for run in runs if not query_ids.isdisjoint((table := stored_runs.ranked(run)).query_ids)]


def takes_a_job(round_: Round, runs: list[Run]) -> bool:
    """Return whether the effects of the round's labels on these runs take too long for a page."""
    return bool(runs) and (is_large(round_) or _rows(runs) > ROWS_AT_ONCE)


def is_large(round_: Round) -> bool:
    """Return whether the round has too many grades for a page."""
    return events(round_) > GRADES_AT_ONCE


def metrics_of(collection: Collection) -> list[str]:
    """Return the metrics with a plain mean that the collection's runs were scored with, or the defaults."""
    from assay.metrics import DEFAULT_METRICS
    from assay.metrics.metric import parse_metrics

    rows = Score.objects.filter(scoring__collection=collection)
    known = in_order(rows.values_list("metric", flat=True).distinct()) or list(DEFAULT_METRICS)
    plain = [bound.name for bound in parse_metrics(known) if bound.metric.mean == "arithmetic"]
    return plain if METRIC in plain else [METRIC, *plain]


def metric_named(name: str, round_: Round) -> BoundMetric:
    """Return one metric with a plain mean on the round's scale; see `metric_on`."""
    return metric_on(name, max(round_.scale.values()))


def metric_on(name: str, top: float) -> BoundMetric:
    """Return one metric with a plain mean on a scale with this top grade."""
    from assay.metrics.metric import parse_metrics

    try:
        metrics = parse_metrics(name or METRIC)
    except NotValid as error:
        raise NotValid(str(error), "metric") from error
    if len(metrics) != 1 or metrics[0].metric.mean != "arithmetic" or metrics[0].metric.by_subtopic:
        raise NotValid(f"Name one metric with a plain mean, for example {METRIC}.", "metric")
    return metrics[0].on_scale(float(top))


def state_key(round_: Round, runs: list[Run], *settings: Any) -> str:
    """Return a key of everything that a result about a round's labels on these runs depends on."""
    settled = Adjudication.objects.filter(pair__round=round_).count()
    known = [str(round_.uuid), events(round_), settled, [(run.name, run.sha256) for run in runs], *settings]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()
