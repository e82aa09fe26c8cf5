"""How does a pool look before anybody judges it: which system brings what, and from which rank?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgments.views.lists import Column
from pooling import charts
from pooling.views import tables

SYSTEMS = (
    Column("name", "Run", head=True, style="clip"),
    Column("unique", "Only here", numeric=True),
    Column("shared", "Shared with others", numeric=True),
    Column("pairs", "Pairs", numeric=True),
)
RANKS = (
    Column("rank", "Best rank", head=True, show=lambda row: str(row["rank"])),
    Column("pairs", "Pairs", numeric=True),
)


def pictures(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The pictures and tables of a pool's summary, as :func:`pooling.pools.preview` describes it.

    Parameters
    ----------
    summary : mapping
        The fields of ``Preview``, as they are stored with a pool.
    """
    systems = [{**row, "shared": row["pairs"] - row["unique"]} for row in summary.get("systems", ())]
    ranks = [tuple(row) for row in summary.get("by_best_rank", ())]
    listed = [{"rank": "returned by no run" if rank is None else rank, "pairs": pairs} for rank, pairs in ranks]
    by_system = tables.small("systems", ("run", "runs"), SYSTEMS, systems)
    by_rank = tables.small("ranks", ("rank", "ranks"), RANKS, listed)
    return {
        "summary": summary,
        "systems": by_system,
        "ranks": by_rank,
        "tables": (by_system, by_rank),
        "systems_chart": _systems_chart(systems),
        "ranks_chart": charts.rank_bars(ranks, _rank_words(ranks)),
    }


def _systems_chart(systems: list[dict[str, Any]]) -> charts.Chart:
    parts = [("shared with others", "mark"), ("only here", "here")]
    said = "; ".join(f"{row['name']}: {row['shared']:,} shared, {row['unique']:,} only here" for row in systems)
    rows = [(row["name"], (row["shared"], row["unique"])) for row in systems]
    return charts.shared_bars(rows, parts, f"Pairs that each run brings into the pool. {said}")


def _rank_words(ranks: list[tuple[int | None, int]]) -> str:
    first = next((pairs for rank, pairs in ranks if rank == 1), 0)
    deepest = max((rank for rank, _ in ranks if rank is not None), default=0)
    return f"Pairs by the best rank that any run gives them: {first:,} at rank 1, the deepest at rank {deepest}"
