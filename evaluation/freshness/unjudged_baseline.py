"""Unjudged shares of the runs' first documents, recorded when labels are frozen."""

from __future__ import annotations

from typing import Any

from assay.core.errors import AssayError
from assay.staleness.facts import DEPTH, RunHoles
from assay.staleness.unjudged_documents import Judged, count_holes, first_ones
from judgments.snapshots.baselines import Freezing
from pooling.models import Run
from pooling.runs import runs as stored_runs

# The user who freezes waits for this. Larger runs are only named with their hash, and the first check counts them from
# the same files.
ROWS_AT_ONCE = 1_000_000
UNREADABLE = "its file cannot be read from storage"
TOO_LARGE = "too large to be read during freezing"


def holes_of(judged: Judged, run: Run) -> RunHoles:
    """Count the unjudged documents among a run's first ranks; a missing file is reported and does not stop the
    others."""
    try:
        return count_holes(judged, first_ones(stored_runs.ranked(run)), run.name, run.sha256)
    except AssayError:
        return RunHoles(run.name, run.sha256, 0, 0, 0, None, None, reason=UNREADABLE)


def runs(freezing: Freezing) -> dict[str, Any]:
    """Return the unjudged share of each run of the collection, smallest runs first up to the size limit."""
    rows, room = [], ROWS_AT_ONCE
    for run in freezing.collection.runs.defer("report", "health").order_by("rows", "sha256"):
        room -= run.rows
        if room < 0:
            rows.append(RunHoles(run.name, run.sha256, 0, 0, 0, None, None, reason=TOO_LARGE))
        else:
            rows.append(holes_of(freezing.judged, run))
    return {"depth": DEPTH, "runs": [run.as_json() for run in sorted(rows, key=lambda run: run.sha256)]}
