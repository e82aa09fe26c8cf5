"""How do the queries of a comparison stand as a list and as a picture?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation import difference_chart
from evaluation.comparison import OUTCOMES, Comparison
from evaluation.difference_chart import Link, QueryBar
from evaluation.drawn import UNTIERED
from evaluation.verdict import signed
from judgments.models import Query
from judgments.views.lists import Choice, Column, Listing
from pooling.charts import Chart, short

Row = dict[str, Any]
PAGE_SIZE = 25
LONGEST_HEAD = 24


def rows(comparison: Comparison, queries: Mapping[str, Query]) -> list[Row]:
    """One row a query, from the largest gain to the largest loss; tiers as they were frozen with the labels."""
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


def listing(comparison: Comparison, asked: Mapping[str, str], found: list[Row]) -> Listing:
    """The list's declaration; its own parameters stand beside those that name the comparison."""
    tiers = any(row["tier"] for row in found)
    return Listing(
        name="differences",
        noun=("query", "queries"),
        columns=(
            Column("query", "Query", order="query", head=True, style="clip", url=lambda row: opening(asked, row)),
            Column("difference", "Difference", order="difference", numeric=True, show=_delta),
            Column("a", short(comparison.a.run.name, LONGEST_HEAD), order="a", numeric=True),
            Column("b", short(comparison.b.run.name, LONGEST_HEAD), order="b", numeric=True),
            *([Column("tier", "Tier", order="tier", style="muted")] if tiers else []),
            Column("query_id", "Id", order="query_id", style="id"),
        ),
        search=("query_id", "query"),
        choices=(
            Choice("outcome", "Outcome", "outcome", [(outcome, outcome) for outcome in OUTCOMES]),
            *([Choice("tier", "Tier", "tier", Query.Tier.choices)] if tiers else []),
        ),
        order="-difference",
        page_size=PAGE_SIZE,
        given=asked,
    )


def picture_of(
    comparison: Comparison, asked: Mapping[str, str], found: list[Row], place: int | None
) -> tuple[Chart, list[Link]]:
    """The sorted bars, each of which leads to its query."""
    counts = ", ".join(f"{comparison.count(outcome):,} {outcome}" for outcome in OUTCOMES)
    label = f"Difference in {comparison.metric} for each of {len(found):,} queries, sorted: {counts}"
    bars = [QueryBar(row["difference"], row["query"], row["tier"]) for row in found]

    def link(at: int) -> tuple[str, str]:
        return opening(asked, found[at]), words(found[at])

    return difference_chart.differences(bars, label, place, link)


def words(row: Row) -> str:
    """What a bar says when it is pointed at."""
    tier = f", {row['tier']}" if row["tier"] else ""
    return f"{row['query']}: {signed(row['difference'])}, {row['a']:.3f} to {row['b']:.3f}{tier}"


def opening(asked: Mapping[str, str], row: Row) -> str:
    """The address of the comparison with this query opened."""
    return f"?{urlencode({**asked, 'query': row['query_id']})}#opened"


def _delta(row: Row) -> SafeString:
    return delta(row["difference"])


def delta(value: float) -> SafeString:
    """A difference with its sign and its color; the sign says it all."""
    sign = "better" if value > 0 else "worse" if value < 0 else "same"
    return format_html('<span class="delta" data-sign="{}">{}</span>', sign, signed(value))
