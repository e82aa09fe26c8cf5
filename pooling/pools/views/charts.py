"""Charts and tables of a pool's summary: pairs by run and by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse

from judgments.charts import charts
from judgments.charts.charts import picture
from judgments.charts.plots import Axis, Layer, Names, Plot
from judgments.web.columns import Column
from judgments.web.lists import small_table

# A matrix of more runs is unreadable; the file contains all runs.
MOST_IN_MATRIX = 20
# More bars than this are unreadable.
MOST_IN_PICTURE = 12

SYSTEMS = (
    Column("name", "Run", head=True, style="clip"),
    Column("unique", "Only in this run", numeric=True),
    Column("shared", "Shared", numeric=True),
    Column("pairs", "Pairs", numeric=True),
)


def _columns(summary: Mapping[str, Any]) -> tuple[Column, ...]:
    """Return the columns, with the expected Judged@k if the summary has it; older pools do not."""
    if not summary.get("expected_judged"):
        return SYSTEMS
    return (*SYSTEMS, Column("judged", f"Expected Judged@{summary['cutoff']}", numeric=True, digits=2))


RANKS = (
    Column("rank", "Best rank", head=True, show=lambda row: str(row["rank"])),
    Column("pairs", "Pairs", numeric=True),
)
TIERS = (
    Column("tier", "Tier", head=True),
    Column("queries", "Queries", numeric=True),
    Column("pairs", "Pairs", numeric=True),
    Column("each", "Pairs per query", numeric=True, digits=1),
)


def pictures(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the charts and tables of a pool's summary, as :func:`pooling.pools.pools.preview` returns it."""
    expected = summary.get("expected_judged", {})
    systems = [
        {**row, "shared": row["pairs"] - row["unique"], "judged": expected.get(row["name"])}
        for row in summary.get("systems", ())
    ]
    ranks = [tuple(row) for row in summary.get("by_best_rank", ())]
    listed = [{"rank": "not returned by any run" if rank is None else rank, "pairs": pairs} for rank, pairs in ranks]
    shown = _telling(systems)
    by_system = small_table("systems", ("run", "runs"), _columns(summary), systems)
    by_rank = small_table("ranks", ("rank", "ranks"), RANKS, listed)
    by_tier = small_table("tiers", ("tier", "tiers"), TIERS, _tiers(summary))
    matrix = _matrix([row["name"] for row in systems], summary.get("shared", ()))
    return {
        "summary": summary,
        "systems": by_system,
        "shown_systems": small_table("systems", ("run", "runs"), _columns(summary), shown),
        "ranks": by_rank,
        "tiers": by_tier,
        "matrix": matrix,
        "cells": _cells(matrix.rows[:MOST_IN_MATRIX]),
        "tables": (by_system, by_rank, by_tier, matrix),
        "systems_chart": _systems_chart(shown),
        "ranks_chart": charts.rank_bars(ranks, _rank_words(ranks)),
    }


def file_of(request: HttpRequest, context: Mapping[str, Any], name: str) -> HttpResponse | None:
    """Return the requested chart as a file, if it is one of these."""
    wanted = request.GET.get("picture")
    chart = context.get(f"{wanted}_chart") if wanted in ("systems", "ranks") else None
    return picture(chart, f"{name} pool {wanted}", request.GET.get("format", "")) if chart else None


def _telling(systems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all runs if a chart can show them, otherwise those with the most unique pairs, in their order."""
    if len(systems) <= MOST_IN_PICTURE:
        return systems
    most = sorted(systems, key=lambda row: -row["unique"])[:MOST_IN_PICTURE]
    return [row for row in systems if row in most]


def _tiers(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one row per tier; empty if queries have no tiers."""
    rows = [
        {"tier": tier or "without a tier", "queries": queries, "pairs": pairs, "each": pairs / queries}
        for tier, queries, pairs in summary.get("by_tier", ())
    ]
    return rows if any(tier for tier, _, _ in summary.get("by_tier", ())) else []


def _matrix(names: Sequence[str], shared: Sequence[Sequence[int]]) -> Any:
    """Return the number of common pairs for every two runs; on the diagonal, the pairs of one run."""
    columns = (
        Column(name, name, numeric=True, value=lambda row, place=place: row[1][place])
        for place, name in enumerate(names)
    )
    head = Column("run", "Run", head=True, value=lambda row: row[0])
    rows = list(zip(names, shared, strict=True)) if shared else []
    return small_table("overlap", ("run", "runs"), (head, *columns), rows)


def _cells(rows: Sequence[tuple[str, Sequence[int]]]) -> list[tuple[str, list[tuple[int, str, str]]]]:
    """Return each run with its cells: the common pairs, their share (Dice), and its level from 0 to 4."""
    sizes = [row[at] for at, (_, row) in enumerate(rows)]
    named_cells = []
    for one, (name, row) in enumerate(rows):
        cells = []
        for other, pairs in enumerate(row[: len(rows)]):
            both = sizes[one] + sizes[other]
            share = 2 * pairs / both if both else 0.0
            level = "" if one == other else str(min(4, int(share * 5)))
            cells.append((pairs, "" if one == other else f"{share:.0%}", level))
        named_cells.append((name, cells))
    return named_cells


def _systems_chart(systems: list[dict[str, Any]]) -> charts.Chart:
    parts = [("shared with others", "mark"), ("only in this run", "here")]
    caption = "; ".join(
        f"{row['name']}: {row['shared']:,} shared, {row['unique']:,} only in this run" for row in systems
    )
    rows = [(row["name"], (row["shared"], row["unique"])) for row in systems]
    axis = Axis(0, max((row["pairs"] for row in systems), default=0), title="pairs")
    layers = [
        Layer("bar", {"x": "shared", "y": "name"}, parts[0][0]),
        Layer("bar", {"x": "shared", "x2": "pairs", "y": "name"}, parts[1][0]),
    ]
    plot = Plot(axis, Names("run"), systems, layers)
    return charts.shared_bars(rows, parts, f"Pairs by run. {caption}", plot)


def _rank_words(ranks: list[tuple[int | None, int]]) -> str:
    first = next((pairs for rank, pairs in ranks if rank == 1), 0)
    deepest = max((rank for rank, _ in ranks if rank is not None), default=0)
    return f"Pairs by the best rank that any run gives them: {first:,} at rank 1, the last at rank {deepest}"
