"""Unjudged shares of the runs' first documents, recorded when labels are frozen."""

from __future__ import annotations

from typing import Any

from evaluation.staleness.facts import DEPTH, RunHoles
from evaluation.staleness.unjudged import Judged, count_holes, first_ones
from judgments.baselines import Freezing
from judgments.core.errors import AssayError
from pooling import runs as runs_of
from pooling.models import Run

# Whoever freezes waits: larger runs are named with their hash, and counted at the first check from the same files.
ROWS_AT_ONCE = 1_000_000
UNREADABLE = "its file cannot be read from storage"
TOO_LARGE = "too large to be read while labels are frozen"


def holes_of(judged: Judged, run: Run) -> RunHoles:
    """What is unjudged among a run's first documents; one whose file is lost says so and keeps nobody from the rest."""
    try:
        return count_holes(judged, first_ones(runs_of.ranked(run)), run.name, run.sha256)
    except AssayError:
        return RunHoles(run.name, run.sha256, 0, 0, 0, None, None, reason=UNREADABLE)


def runs(freezing: Freezing) -> dict[str, Any]:
    """The unjudged share of each run of the collection, the smallest runs first until they are too many to read."""
    told, room = [], ROWS_AT_ONCE
    for run in freezing.collection.runs.defer("report", "health").order_by("rows", "sha256"):
        room -= run.rows
        if room < 0:
            told.append(RunHoles(run.name, run.sha256, 0, 0, 0, None, None, reason=TOO_LARGE))
        else:
            told.append(holes_of(freezing.judged, run))
    return {"depth": DEPTH, "runs": [run.as_json() for run in sorted(told, key=lambda run: run.sha256)]}
