"""Page of the runs: their health and overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.utils.text import Truncator

from judgments.charts import charts
from judgments.models import Collection
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import percent
from judgments.web.lists import Listing, answer, requested_table, small_table
from judgments.web.pages import get_page
from pooling.models import Run
from pooling.runs import health, overlap

# A chart of more systems is unreadable; the list contains all.
MOST_IN_PICTURE = 12


@dataclass(frozen=True)
class RunRow:
    """A run with its current statistics, which include queries and grades added after it."""

    run: Run
    left_out: int
    unjudged: float | None

    @property
    def median_depth(self) -> int:
        return self.run.health.get("median depth", self.run.depth)

    @property
    def ties(self) -> float | None:
        return self.run.health.get("tied rows", 0) / self.run.rows if self.run.rows else None

    @property
    def pools(self) -> int:
        return self.run.pool_count


RUNS = Listing(
    name="runs",
    noun=("run", "runs"),
    columns=(
        Column(
            "run",
            "Run",
            order="-",
            head=True,
            style="clip",
            value=lambda row: row.run.name,
            show=lambda row: f"{row.run.name} (baseline)" if row.run.baseline else row.run.name,
            url=("run", "run.collection.slug", "run.uuid"),
        ),
        Column("unjudged", "Unjudged@10", order="-", numeric=True),
        Column("rows", "Rows", order="-", numeric=True, value=lambda row: row.run.rows),
        Column("queries", "Queries", order="-", numeric=True, value=lambda row: row.run.queries),
        Column("left_out", "Missing queries", order="-", numeric=True),
        Column("median_depth", "Median depth", order="-", numeric=True),
        Column("ties", "Tied rows", order="-", numeric=True, show=lambda row: percent(row.ties)),
        Column("pools", "Pools", order="-", numeric=True),
        Column("created_at", "Stored", order="-", style="nowrap", value=lambda row: row.run.created_at),
        Column("description", "Description", style="clip muted", value=lambda row: row.run.description),
    ),
    search=("run__name", "run__description"),
    order="run",
    mark=lambda row: "warning" if row.left_out or not row.run.rows else "",
)
PARTS = (
    Column("run", "Run", head=True, style="clip", value=lambda part: part.run.name),
    Column("alone", "Only in this run", numeric=True),
    Column("some", "In some other runs", numeric=True),
    Column("everywhere", "In all runs", numeric=True),
    Column("unjudged", "Unjudged", numeric=True),
)


@get_page
def run_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    runs = list(collection.runs.active().select_related("collection").annotate(pool_count=Count("pools")))
    shared = overlap.overlap(collection, runs)
    rows = [RunRow(part.run, part.left_out, part.unjudged_share) for part in shared.parts]
    context = {"collection": collection, "step": "runs", **_picture(collection, runs, shared)}
    return requested_table(request, context["tables"], context) or answer(
        request, RUNS, rows, "pooling/runs/runs.html", context
    )


def _picture(collection: Collection, runs: Sequence[Run], shared: overlap.Overlap) -> dict[str, Any]:
    """Return the overlap of the newest runs, as bars, counts and a matrix."""
    shown = runs
    if len(runs) > MOST_IN_PICTURE:
        shown = sorted(runs, key=lambda run: run.created_at, reverse=True)[:MOST_IN_PICTURE]
        shared = overlap.overlap(collection, shown)
    parts = small_table("overlap", ("run", "runs"), PARTS, shared.parts)
    names = [part.run.name for part in shared.parts]
    matrix = small_table(
        "shared", ("run", "runs"), _matrix_columns(names), list(zip(names, health.jaccards(shown), strict=True))
    )
    return {
        "parts": parts,
        "matrix": matrix,
        "cells": [
            (name, [_cell(share, one == two) for two, share in enumerate(row)])
            for one, (name, row) in enumerate(matrix.rows)
        ],
        "names": [Truncator(name).chars(12) for name in names],
        "tables": (parts, matrix),
        "all_runs": len(runs),
        "chart": part_bars(
            [(p.run.name, p.everywhere, p.some, p.alone) for p in shared.parts], f"in the first {shared.depth}"
        ),
    }


def part_bars(rows: Sequence[tuple[str, int, int, int]], where: str) -> charts.Chart:
    """Return a bar for each run: documents in all runs, in some, and only in this one."""
    kinds = [("in all runs", "mark"), ("in some runs", "same"), ("only in this run", "here")]
    caption = "; ".join(
        f"{name}: {all_:,} in all runs, {some:,} in some runs, {alone:,} only in this run"
        for name, all_, some, alone in rows
    )
    return charts.shared_bars([(name, counts) for name, *counts in rows], kinds, f"Documents {where}. {caption}")


def _matrix_columns(names: Sequence[str]) -> tuple[Column, ...]:
    shares = (
        Column(name, name, numeric=True, digits=2, value=lambda row, place=place: row[1][place])
        for place, name in enumerate(names)
    )
    return (Column("run", "Run", head=True, value=lambda row: row[0]), *shares)


def _cell(share: float | None, itself: bool) -> tuple[str, str]:
    """Return the text of a matrix cell, and its level from 0 to 4."""
    if itself or share is None:
        return "·" if itself else "", ""
    return f"{share:.2f}", str(min(4, int(share * 5)))
