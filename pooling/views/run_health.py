"""Health section of the run page: warnings first, then depths and similar runs with charts."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from judgments.core.amounts import amount
from judgments.templatetags.figures import percent
from judgments.views.columns import Column
from pooling import charts, run_health
from pooling.health.likeness import DEPTH
from pooling.models import Run
from pooling.views import tables

# A picture of more systems than this is a blur; the table and its file have them all.
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
    """What the page of a run shows of its health, with the tables that it offers as files."""
    found = run_health.look(run)
    depths = tables.small("depths", ("depth", "depths"), DEPTHS, found.depths)
    others = tables.small("likeness", ("run", "runs"), OTHERS, found.others)
    return {
        "health": found,
        "now": found.now,
        "warnings": _warnings(found),
        "remarks": _remarks(found),
        "depths": depths,
        "depths_chart": charts.depth_bars(found.depths) if found.figures.smallest != found.figures.largest else None,
        "others": others,
        "shown_others": tables.small("likeness", ("run", "runs"), OTHERS, found.others[:MOST_IN_TABLE]),
        "others_chart": charts.share_bars(_bars(found)),
        "tables": (depths, others),
    }


def _bars(found: run_health.Health) -> list[tuple[str, float]]:
    return [(other.run.name, other.likeness.jaccard or 0.0) for other in found.others[:MOST_IN_PICTURE]]


def _depth(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _warnings(found: run_health.Health) -> list[str]:
    """What is wrong with the file, in sentences."""
    said, own = [], found.figures
    if own.against_rows:
        said.append(
            f"Its ranks contradict its scores in {amount(own.against_queries, 'query', 'queries')}, "
            f"first in {own.first_against}. It is read by score everywhere."
        )
    if found.strange:
        said.append(
            f"It answers {amount(found.strange, 'query', 'queries')} that the collection does not have. "
            "They are kept, and never scored or pooled."
        )
    if found.stayed_out:
        twice = f", {found.twice:,} of them because a document stood twice in a query" if found.twice else ""
        said.append(f"{amount(found.stayed_out, 'odd row')} of its file stayed out when it was stored{twice}.")
    if own.mostly_tied:
        said.append(
            f"{percent(own.ties)} of its rows have a score that another row of the query has. What order they stand in "
            "is not the system’s: metrics go by document id."
        )
    if own.infinite:
        said.append(f"{amount(own.infinite, 'score')} of it {_is(own.infinite)} infinite.")
    return said


def _remarks(found: run_health.Health) -> list[str]:
    """What is worth knowing and hurts nobody."""
    said, own = [], found.figures
    if own.reordered_rows:
        said.append(
            f"{amount(own.reordered_rows, 'tied row')} stood elsewhere for its users: the system orders equal scores "
            "by rank, metrics by document id."
        )
    if not own.ranked_rows and own.tied_rows:
        said.append("It has no ranks, so that nothing says in which order its users saw equal scores.")
    return said


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
