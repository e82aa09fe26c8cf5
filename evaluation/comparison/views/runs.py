"""Page that compares two runs: the difference, its significance, and the queries and documents that differ."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from evaluation.comparison import breakdown, comparison, verdict
from evaluation.comparison.comparison import Comparison
from evaluation.comparison.views import decision_critical, differences, open_query
from evaluation.comparison.views.choice import Choice, chosen
from evaluation.models import Scoring
from evaluation.scoring import metric_values, stored_scores
from evaluation.scoring.metric_values import shown_difference
from evaluation.scoring.views.scores import TRAFFIC
from judgments.charts import intervals
from judgments.charts.chart_files import picture
from judgments.charts.charts import Chart
from judgments.models import Collection, Query
from judgments.snapshots import snapshots
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access
from judgments.web.downloads import attachment
from judgments.web.lists import answer

WON_MOST = 8


@login_required
@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    withheld = snapshots.withheld_queries(request.user, snapshot) if snapshot else frozenset()
    scorings = stored_scores.scorings_of(snapshot, left_out=withheld) if snapshot else []
    context: dict[str, Any] = {"collection": collection, "step": "scores", "snapshot": snapshot, "scorings": scorings}
    choice = chosen(scorings, request.GET)
    if snapshot is None or choice is None:
        return render(request, "evaluation/comparison/compare_empty.html", context)
    how: dict[str, Any] = {"others": scorings, "withheld": withheld, "weighted": choice.weighted}
    result = comparison.compare(choice.a, choice.b, choice.metric, **how)
    queries = _queries(collection)
    rows = differences.rows(result, queries)
    params = choice.address(request.GET)
    file = request.GET.get("format", "")
    if file in FILES:
        return FILES[file](request.user, collection, result, choice, params, rows)
    query_id = request.GET.get("query", "").replace("\0", "")
    place = next((at for at, row in enumerate(rows) if row["query_id"] == query_id), None)
    context |= _context(result, choice, params, rows, collection)
    context["chart"], context["links"] = differences.picture_of(result, params, rows, place)
    context |= decision_critical.card(collection, request.user, choice, withheld)
    context |= open_query.opened(result, queries, params, request.user, query_id=query_id)
    listing_params = params if place is None else params | {"query": query_id}
    return answer(
        request, differences.listing(result, listing_params, rows), rows, "evaluation/comparison/compare.html", context
    )


def _queries(collection: Collection) -> dict[str, Query]:
    # Not through the collection's own manager, which would query the collection again for every row.
    rows = Query.objects.filter(collection=collection).only("uuid", "query_id", "text", "tier", "narrative")
    return {row.query_id: row for row in rows}


def _context(
    result: Comparison, choice: Choice, params: dict[str, str], rows: list[dict[str, Any]], collection: Collection
) -> dict[str, Any]:
    """Return the main numbers as text."""
    pair, smallest = result.pair, result.settings["smallest_p"]
    judged = (_judged(result.a), _judged(result.b))
    swapped = {**params, "a": params["b"], "b": params["a"]}
    once = {key: value for key, value in params.items() if key != "weight"}
    return {
        "comparison": result,
        "pair": pair,
        "metric": result.metric,
        "metrics": choice.metrics,
        "primary": choice.metrics[0],
        "weighted": choice.weighted,
        "weights": [
            ("all queries equal", f"?{urlencode(once)}", not choice.weighted),
            ("by traffic", f"?{urlencode({**once, 'weight': TRAFFIC})}", choice.weighted),
        ],
        "can_weigh": choice.can_weigh,
        "notes": choice.notes,
        "left_out": len(result.withheld),
        "snapshots": list(collection.snapshots.filter(scorings__isnull=False).distinct().defer("manifest")),
        "address": f"?{urlencode(params)}",
        "swapped": f"?{urlencode(swapped)}",
        "mean": shown_difference(pair["difference"], result.metric),
        "range": verdict.range_of(pair),
        "p": "" if pair["p"] is None else metric_values.chance(pair["p"], smallest),
        "p_corrected": "" if pair["p_corrected"] is None else metric_values.chance(pair["p_corrected"]),
        "effect": metric_values.signed(pair["effect"], 2),
        "judged": judged,
        "holes": [one.diagnostics.get("holes@10") for one in (result.a, result.b)],
        "remarks": verdict.remarks(
            result, choice.metrics[0], judged, None if choice.weighted else breakdown.by_traffic(result)
        ),
        "draws": verdict.draws(result),
        "others": [
            {**_line(one, one["metric"]), "url": f"?{urlencode({**params, 'metric': one['metric']})}"}
            for one in breakdown.exploratory(result, choice.metrics)
        ],
        "not_drawn": ""
        if breakdown.drawn_at_once(pair["queries"], len(choice.metrics) - 1)
        else f"Intervals and p-values are {breakdown.NOT_DRAWN}. Choose a metric to see them.",
        "tiers": _tiers(breakdown.by_tier(result), result.metric),
        **_most(rows, params, result.metric),
    }


def _judged(scoring: Scoring) -> float | None:
    """Return the judged share of the first ten documents, over the judged queries that the run answers."""
    share = stored_scores.unjudged(scoring)
    return None if share is None else 1 - share


def _line(pair: dict[str, Any], metric: str) -> dict[str, Any]:
    """Return a comparison as a table row."""
    p = "" if pair.get("p") is None else metric_values.chance(pair["p"]).removeprefix("= ")
    return {
        **pair,
        "delta": differences.delta(round(pair["difference"], 12), metric),
        "range": verdict.range_of(pair),
        "chance": p,
    }


def _tiers(rows: list[dict[str, Any]], metric: str) -> list[tuple[dict[str, Any], Chart]]:
    """Draw each tier's mean difference with its interval on a shared axis that includes zero."""
    estimates = [intervals.Estimate(row["tier"], row["difference"], row["low"], row["high"]) for row in rows]
    axis = intervals.axis_over([*estimates, intervals.Estimate("none", 0.0)], 8.0, 172.0)
    return [
        (_line(row, metric), intervals.row_dot(axis, one, best=False, baseline=0.0))
        for row, one in zip(rows, estimates, strict=True)
    ]


def _most(rows: list[dict[str, Any]], params: dict[str, str], metric: str) -> dict[str, Any]:
    """Return the queries with the largest gains and losses if the list is too long to show both ends."""
    if len(rows) <= differences.PAGE_SIZE:
        return {}
    won = [row for row in rows if row["outcome"] == "better"]
    lost = [row for row in reversed(rows) if row["outcome"] == "worse"]
    ends = (("Largest gains", "better", won), ("Largest losses", "worse", lost))
    return {"most": [(title, key, _shown(of[:WON_MOST], params, metric), len(of)) for title, key, of in ends]}


def _shown(rows: list[dict[str, Any]], params: dict[str, str], metric: str) -> list[dict[str, Any]]:
    return [
        {**row, "delta": differences.delta(row["difference"], metric), "url": differences.opening(params, row)}
        for row in rows
    ]


def _name(collection: Collection, result: Comparison) -> str:
    return slugify(f"{collection.slug} {result.b.run} against {result.a.run} {result.metric}")


def _as_svg(
    reader: Any,
    collection: Collection,
    result: Comparison,
    choice: Choice,
    params: dict[str, str],
    rows: list[dict[str, Any]],
) -> HttpResponse:
    chart, _ = differences.picture_of(result, params, rows, None)
    return picture(chart, _name(collection, result))


def _as_json(
    reader: Any,
    collection: Collection,
    result: Comparison,
    choice: Choice,
    params: dict[str, str],
    rows: list[dict[str, Any]],
) -> HttpResponse:
    """Download the API response with the queries, the tiers and the other metrics."""
    body = comparison.as_json(result) | {
        "by_traffic": breakdown.by_traffic(result),
        "exploratory": breakdown.exploratory(result, choice.metrics),
        "by_tier": breakdown.by_tier(result),
        "per_query": rows,
    }
    content = snapshots.redacted_for(reader, collection, body)
    return attachment(f"{_name(collection, result)}.json", json.dumps(content, ensure_ascii=False, indent=1))


FILES = {"svg": _as_svg, "json": _as_json}
