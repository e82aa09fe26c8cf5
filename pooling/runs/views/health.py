"""Health section of the run page: warnings first, then depths and similar runs with charts."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from assay.core.counted_nouns import amount
from assay.scoring.run_health import DEPTH
from judgments.charts import charts, table_files
from judgments.web.columns import Column
from judgments.web.figures import percent
from pooling.models import Run
from pooling.runs import health as run_health

# A chart of more systems is unreadable; the table and its file contain all.
MOST_IN_PICTURE = MOST_IN_TABLE = 10

DEPTHS = (
    Column("documents", "Documents", head=True, value=lambda row: _depth(row[0], row[1])),
    Column("queries", "Queries", numeric=True, value=lambda row: row[2]),
)
OTHERS = (
    Column(
        "run",
        "Run",
        head=True,
        style="clip",
        value=lambda row: row.run.name,
        url=lambda row: reverse("run", args=[row.run.collection.slug, row.run.uuid]),
    ),
    Column("jaccard", f"Jaccard@{DEPTH}", numeric=True, value=lambda row: row.likeness.jaccard),
    Column("rbo", f"RBO@{DEPTH}", numeric=True, value=lambda row: row.likeness.rbo),
    Column("same", "Same list", numeric=True, value=lambda row: row.likeness.same),
    Column("queries", "Queries", numeric=True, value=lambda row: row.likeness.queries),
)


def shown(run: Run) -> dict[str, Any]:
    """Return the context of a run's health, with its tables for download."""
    health = run_health.check(run)
    depths = table_files.small("depths", ("depth", "depths"), DEPTHS, health.depths)
    others = table_files.small("likeness", ("run", "runs"), OTHERS, health.others)
    return {
        "health": health,
        "now": health.now,
        "warnings": _warnings(health),
        "remarks": _remarks(health),
        "depths": depths,
        "depths_chart": charts.depth_bars(health.depths) if health.figures.smallest != health.figures.largest else None,
        "others": others,
        "shown_others": table_files.small("likeness", ("run", "runs"), OTHERS, health.others[:MOST_IN_TABLE]),
        "others_chart": charts.share_bars(_bars(health)),
        "tables": (depths, others),
    }


def _bars(health: run_health.Health) -> list[tuple[str, float]]:
    return [(other.run.name, other.likeness.jaccard or 0.0) for other in health.others[:MOST_IN_PICTURE]]


def _depth(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _warnings(health: run_health.Health) -> list[str]:
    """Return the problems of the file as sentences."""
    warnings, own = [], health.figures
    if own.against_rows:
        warnings.append(
            f"The ranks contradict the scores in {amount(own.against_queries, 'query', 'queries')}, first in "
            f"{own.first_against}. Assay orders the run by score."
        )
    if health.strange:
        warnings.append(
            f"The run has results for {amount(health.strange, 'query', 'queries')} that the collection does not have. "
            "They are stored but never scored or pooled."
        )
    if health.stayed_out:
        twice = f", {health.twice:,} of them with a repeated document" if health.twice else ""
        warnings.append(f"{amount(health.stayed_out, 'odd row')} of the file left out at import{twice}.")
    if own.mostly_tied:
        warnings.append(
            f"{percent(own.ties)} of the rows share their score with another row of the query. Metrics order them by "
            "document id, not in the system’s order."
        )
    if own.infinite:
        warnings.append(f"{amount(own.infinite, 'score')} {_is(own.infinite)} infinite.")
    return warnings


def _remarks(health: run_health.Health) -> list[str]:
    """Return facts about the file that are no problem, as sentences."""
    remarks, own = [], health.figures
    if own.reordered_rows:
        remarks.append(
            f"{amount(own.reordered_rows, 'tied row')} had another position for users, because the system orders "
            "equal scores by rank and metrics order them by document id."
        )
    if not own.ranked_rows and own.tied_rows:
        remarks.append("The run has no ranks, so the order of equal scores that users saw is unknown.")
    return remarks


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
