"""List and chart of the queries of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.utils.html import format_html
from django.utils.safestring import SafeString

from assay.core.text_rules import amount
from evaluation.comparison import difference_chart
from evaluation.comparison.comparison import OUTCOMES, Comparison
from evaluation.comparison.difference_chart import Link
from evaluation.scoring.metric_values import shown, shown_difference
from evaluation.scoring.scoring import UNTIERED
from judgments.charts.charts import Chart, short_name
from judgments.models import Query
from judgments.web.columns import Column
from judgments.web.lists import ChoiceFilter, Listing

Row = dict[str, Any]
PAGE_SIZE = 25
LONGEST_HEAD = 24


def rows(comparison: Comparison, queries: Mapping[str, Query]) -> list[Row]:
    """Return one row per query, from the largest gain to the largest loss, with the tiers frozen with the labels."""
    return [
        {
            "query_id": one.query_id,
            "query": queries[one.query_id].text if one.query_id in queries else one.query_id,
            "tier": tier if (tier := comparison.tiers.get(one.query_id, "")) != UNTIERED else "",
            "difference": one.value,
            "a": one.a,
            "b": one.b,
            "outcome": one.outcome,
        }
        for one in comparison.differences
    ]


def listing(comparison: Comparison, params: Mapping[str, str], rows: list[Row]) -> Listing:
    """Return the definition of the list; its parameters come in addition to those of the comparison."""
    tiers, metric = any(row["tier"] for row in rows), comparison.metric

    def change(row: Row) -> SafeString:
        return delta(row["difference"], metric)

    return Listing(
        name="differences",
        noun=("query", "queries"),
        columns=(
            Column("query", "Query", order="query", head=True, style="clip", url=lambda row: opening(params, row)),
            Column("difference", "Difference", order="difference", numeric=True, show=change),
            *(
                Column(
                    side,
                    short_name(of.run.name, LONGEST_HEAD),
                    order=side,
                    numeric=True,
                    show=lambda row, side=side: shown(row[side], metric),
                )
                for side, of in (("a", comparison.a), ("b", comparison.b))
            ),
            *([Column("tier", "Tier", order="tier", style="muted")] if tiers else []),
            Column("query_id", "Id", order="query_id", style="id"),
        ),
        search=("query_id", "query"),
        choices=(
            ChoiceFilter("outcome", "Outcome", "outcome", [(outcome, outcome) for outcome in OUTCOMES]),
            *([ChoiceFilter("tier", "Tier", "tier", Query.Tier.choices)] if tiers else []),
        ),
        order="-difference",
        page_size=PAGE_SIZE,
        given=params,
    )


def picture_of(
    comparison: Comparison, params: Mapping[str, str], rows: list[Row], place: int | None
) -> tuple[Chart, list[Link]]:
    """Draw the sorted bars, each a link to its query."""
    counts = ", ".join(f"{comparison.count(outcome):,} {outcome}" for outcome in OUTCOMES)
    label = f"Difference in {comparison.metric} for each of {amount(len(rows), 'query', 'queries')}, sorted: {counts}"

    def link(at: int) -> tuple[str, str]:
        return opening(params, rows[at]), words(rows[at], comparison.metric)

    return difference_chart.differences(rows, label, place, link)


def words(row: Row, metric: str) -> str:
    """Return the tooltip of a bar."""
    tier, change = f", {row['tier']}" if row["tier"] else "", shown_difference(row["difference"], metric)
    return f"{row['query']}: {change}, {shown(row['a'], metric)} to {shown(row['b'], metric)}{tier}"


def opening(params: Mapping[str, str], row: Row) -> str:
    """Return the URL of the comparison with this query opened."""
    return f"?{urlencode({**params, 'query': row['query_id']})}#opened"


def delta(value: float, metric: str) -> SafeString:
    """Format a difference with its sign and color; the sign alone carries the meaning."""
    sign, words = "better" if value > 0 else "worse" if value < 0 else "same", shown_difference(value, metric)
    return format_html('<span class="delta" data-sign="{}">{}</span>', sign, words)
