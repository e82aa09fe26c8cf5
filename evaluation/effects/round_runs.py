"""Runs that a round's labels can be tried on, and keys of the round's state for cached results."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from assay.metrics.metric import BoundMetric
from evaluation.models import Score
from evaluation.scoring.stored_scores import in_order
from judgments.agreement.round_report import events
from judgments.models import Adjudication, Collection, Round
from pooling.models import Run

METRIC = "nDCG@10"
# Runs are read whole; more rows than these would keep a page waiting, and still more would fill a worker's memory.
ROWS_AT_ONCE, ROWS_BY_JOB = 2_000_000, 20_000_000
# And so are the grades of a round, anew whenever one is given.
GRADES_AT_ONCE = 100_000


def runs_of(whole: Round | Collection) -> list[Run]:
    """All runs of the collection, or those that a round's labels are about, by name.

    Raises
    ------
    NotValid
        They are too large to be read while a page waits.
    """
    runs = all_runs(whole)
    if (rows := _rows(runs)) > ROWS_AT_ONCE:
        raise NotValid(f"The runs have {amount(rows, 'row')} together, too many for a page.")
    return runs


def runs_by_job(whole: Round | Collection) -> list[Run]:
    """The same, for a job that can wait.

    Raises
    ------
    NotValid
        They are too large to be held at once all the same.
    """
    runs = all_runs(whole)
    if (rows := _rows(runs)) > ROWS_BY_JOB:
        raise NotValid(f"The runs have {amount(rows, 'row')} together. The limit is {ROWS_BY_JOB:,}.")
    return runs


def all_runs(whole: Round | Collection) -> list[Run]:
    """The same, however large. Runs rank documents: grades of answers say nothing about them."""
    if isinstance(whole, Round) and whole.of_answers:
        return []
    collection = whole.collection if isinstance(whole, Round) else whole
    return list(collection.runs.defer("report", "health").order_by("name"))


def _rows(runs: list[Run]) -> int:
    return sum(run.rows for run in runs)


def takes_a_job(round_: Round, runs: list[Run]) -> bool:
    """Whether an answer about the round's labels on these runs would keep a page waiting."""
    return bool(runs) and (is_large(round_) or _rows(runs) > ROWS_AT_ONCE)


def is_large(round_: Round) -> bool:
    """Whether the round has more grades than can be read while a page waits."""
    return events(round_) > GRADES_AT_ONCE


def metrics_of(collection: Collection) -> list[str]:
    """The metrics that runs of the collection were scored with, else the usual ones; those with a plain mean."""
    from assay.metrics import DEFAULT_METRICS
    from assay.metrics.metric_names import parse_metrics

    rows = Score.objects.filter(scoring__collection=collection)
    known = in_order(rows.values_list("metric", flat=True).distinct()) or list(DEFAULT_METRICS)
    plain = [bound.name for bound in parse_metrics(known) if bound.metric.mean == "arithmetic"]
    return plain if METRIC in plain else [METRIC, *plain]


def metric_named(name: str, round_: Round) -> BoundMetric:
    """One metric with a plain mean, on the round's scale; see `metric_on`."""
    return metric_on(name, max(round_.scale.values()))


def metric_on(name: str, top: float) -> BoundMetric:
    """One metric with a plain mean, on a scale that ends at the top.

    Raises
    ------
    NotValid
        There is no such metric, more than one is named, or its mean is not plain.
    """
    from assay.metrics.metric_names import parse_metrics

    try:
        metrics = parse_metrics(name or METRIC)
    except NotValid as error:
        raise NotValid(str(error), {"metric": str(error)}) from error
    if len(metrics) != 1 or metrics[0].metric.mean != "arithmetic" or metrics[0].metric.by_subtopic:
        message = f"Name one metric with a plain mean, for example {METRIC}."
        raise NotValid(message, {"metric": message})
    return metrics[0].on_scale(float(top))


def state_key(round_: Round, runs: list[Run], *settings: Any) -> str:
    """Names everything that an answer about a round's labels on these runs depends on."""
    settled = Adjudication.objects.filter(pair__round=round_).count()
    known = [str(round_.uuid), events(round_), settled, [(run.name, run.sha256) for run in runs], *settings]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()
