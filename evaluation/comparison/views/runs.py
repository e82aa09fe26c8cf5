"""Page that compares two runs: the difference, its significance, and the queries and documents that differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify

from evaluation.comparison import comparison, difference_chart, verdict
from evaluation.comparison.comparison import DAY, Comparison, Difference, common, report, tested, values_of
from evaluation.comparison.views import decision_critical, differences
from evaluation.comparison.views.decision_critical import ComparedRuns
from evaluation.comparison.views.differences import delta
from evaluation.scoring import metric_values, rankings, stored_scores
from evaluation.scoring.metric_values import shown_difference
from evaluation.scoring.scoring import LEVEL, SEED
from evaluation.scoring.stored_scores import tier_place
from evaluation.scoring.views.scores import TRAFFIC
from judgments.charts import intervals
from judgments.charts.charts import FORMS, Chart, picture
from judgments.jobs.single_flight import compute_once, hashed_key
from judgments.labels import grade_visibility
from judgments.models import Collection, Query
from judgments.snapshots import snapshots
from judgments.web import access
from judgments.web.downloads import json_file
from judgments.web.lists import answer
from judgments.web.pages import get_page

# Above this number of queries, a hundred thousand draws for each of several metrics would take too long.
MOST_DRAWN = 2_000
# With this many query-metric combinations, the computation takes a few seconds.
MOST_DRAWN_TOGETHER = 6 * MOST_DRAWN
NOT_DRAWN = "computed for one metric at a time when there are many queries or metrics"


def exploratory(comparison: Comparison, metrics: Iterable[str]) -> list[dict[str, Any]]:
    """Compare the two runs under other metrics, each over the queries that both runs have values for."""
    a, b = comparison.a, comparison.b
    names = [name for name in metrics if name != comparison.metric]
    values = values_of([a, b], names)
    design = comparison.drawn.design if comparison.weighted and comparison.drawn else None
    rows = []
    for name in names:
        if both := common(values, a, b, name, comparison.withheld):
            columns = {one.run.name: [values[one.pk, name][query_id] for query_id in both] for one in (a, b)}
            if drawn_at_once(len(both), len(names)):
                rows.append(report(name, both, columns, design)["pairs"][0])
            else:
                rows.append(_not_drawn(name, columns, design.weights_of(both) if design else None))
    return rows


def drawn_at_once(queries: int, metrics: int) -> bool:
    """Return whether a page about another metric can afford the draws for these metrics."""
    return queries <= MOST_DRAWN and queries * metrics <= MOST_DRAWN_TOGETHER


def _not_drawn(metric: str, columns: Mapping[str, list[float]], weights: list[float] | None) -> dict[str, Any]:
    """Return a comparison without p-value and interval."""
    import numpy as np

    from assay.significance.results import PairComparison, effect

    (a, first), (b, second) = columns.items()
    counted = np.array(weights) > 0 if weights else np.ones(len(first), dtype=bool)
    weights = np.array(weights)[counted].tolist() if weights else None
    size = effect(tested(metric, first)[counted], tested(metric, second)[counted], weights)
    return PairComparison(metric, a, b, size, None, None, None, None, int(counted.sum()), NOT_DRAWN).as_json()


def by_traffic(comparison: Comparison) -> dict[str, Any] | None:
    """Compare the runs with each query weighted by its traffic; return None if a weight is missing or there are too
    many queries."""
    if comparison.drawn is None or comparison.drawn.reason or len(comparison.differences) > MOST_DRAWN:
        return None
    ordered = comparison.ordered
    columns = {comparison.a.run.name: [one.a for one in ordered], comparison.b.run.name: [one.b for one in ordered]}
    ids = [one.query_id for one in ordered]
    pairs: list[dict[str, Any]] = report(comparison.metric, ids, columns, comparison.drawn.design)["pairs"]
    return pairs[0]


def by_tier(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the mean difference over the queries of each tier, with its interval, head first."""
    rows = []
    for tier in sorted(set(comparison.tiers.values()), key=tier_place):
        of = [one for one in comparison.ordered if comparison.tiers.get(one.query_id) == tier]
        weights = _weights(comparison, of)
        # A query without traffic weight is in no weighted mean.
        counted = [one for at, one in enumerate(of) if not weights or weights[at] > 0]
        if counted:
            rows.append({"tier": tier, **_of_tier(comparison, counted)})
    return rows


def _of_tier(comparison: Comparison, of: list[Difference]) -> dict[str, Any]:
    weights = _weights(comparison, of)
    key = hashed_key("tier", comparison.metric, [one.a for one in of], [one.b for one in of], weights)
    return compute_once(key, lambda: _difference(comparison.metric, of, weights), keep=DAY)


def _weights(comparison: Comparison, of: list[Difference]) -> list[float] | None:
    if not comparison.weighted or comparison.drawn is None:
        return None
    return comparison.drawn.design.weights_of([one.query_id for one in of])


def _difference(metric: str, of: list[Difference], weights: list[float] | None) -> dict[str, Any]:
    import numpy as np

    from assay.significance.intervals import difference_intervals
    from assay.significance.results import effect

    scores = np.column_stack([tested(metric, [one.a for one in of]), tested(metric, [one.b for one in of])])
    (interval,) = difference_intervals(scores, [(0, 1)], level=LEVEL, seed=SEED, weights=weights)
    size = effect(scores[:, 0], scores[:, 1], weights)
    return {
        "difference": size.difference,
        "low": interval.low,
        "high": interval.high,
        "queries": len(scores),
        "wins": size.wins,
        "ties": size.ties,
        "losses": size.losses,
        "reason": interval.reason,
    }


MOVED = {
    "new": "new in {b}",
    "gone": "missing from {b}",
    "up": "moved up",
    "down": "moved down",
    "same": "at the same rank",
}


def opened(
    comparison: Comparison, queries: Mapping[str, Query], params: Mapping[str, str], user: Any, *, query_id: str
) -> dict[str, Any]:
    """Return both runs' first documents, the lines between them, and the neighboring queries; or why they are
    hidden."""
    ids = [one.query_id for one in comparison.differences]
    if not query_id:
        return {}
    if query_id not in ids or query_id not in queries:
        return {"unopened": _why_not(comparison, query_id)}
    place, depth = ids.index(query_id), rankings.requested_depth(params.get("depth", ""))
    hidden = {doc_id for _, doc_id in grade_visibility.hidden_keys(user, comparison.a.collection, query_id)}
    runs = [comparison.a.run, comparison.b.run]
    answers = rankings.answers(comparison.a.snapshot, runs, query_id, depth, hidden=hidden)
    difference = comparison.differences[place]
    lines, height = difference_chart.moves(answers)
    return {
        "query": queries[query_id],
        "place": place + 1,
        "opened_delta": delta(difference.value, comparison.metric),
        "answers": answers,
        "sides": list(zip(answers.rankings, (difference.a, difference.b), strict=True)),
        "lines": lines,
        "lines_height": height,
        "moved": _moved(answers, comparison),
        "depth": depth,
        "depths": [(one, _address(params, query=query_id, depth=str(one))) for one in rankings.DEPTHS],
        "before": _address(params, query=ids[place - 1]) if place else "",
        "after": _address(params, query=ids[place + 1]) if place + 1 < len(ids) else "",
    }


def _moved(answers: rankings.Answers, comparison: Comparison) -> list[str]:
    """Count the documents that moved in each direction, in words: ``2 new in neural``."""
    names = {"a": comparison.a.run.name, "b": comparison.b.run.name}
    return [f"{number} {MOVED[kind].format(**names)}" for kind, number in answers.moved.items() if number]


def _why_not(comparison: Comparison, query_id: str) -> str:
    if query_id in comparison.withheld:
        return (
            f"Query {query_id} is hidden because you may still have to grade its documents. "
            "You can see it after you have finished rating, or after the round is closed."
        )
    return f"Query {query_id} is not part of this comparison. Choose one from the list."


def _address(params: Mapping[str, str], **more: str) -> str:
    return f"?{urlencode({**params, **more})}#opened"


WON_MOST = 8


@get_page
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    context, choice, withheld = decision_critical.requested(request, collection)
    if choice is None:
        return render(request, "evaluation/comparison/compare_empty.html", context)
    how: dict[str, Any] = {"others": context["scorings"], "withheld": withheld, "weighted": choice.weighted}
    result = comparison.compare(choice.a, choice.b, choice.metric, **how)
    # Not through the collection's own manager, which would query the collection again for every row.
    known = Query.objects.filter(collection=collection).only("uuid", "query_id", "text", "tier", "narrative")
    queries = {row.query_id: row for row in known}
    rows = differences.rows(result, queries)
    params = choice.address(request.GET)
    if file := _file_of(request, result, choice, params, rows):
        return file
    query_id = request.GET.get("query", "").replace("\0", "")
    place = next((at for at, row in enumerate(rows) if row["query_id"] == query_id), None)
    context |= _context(result, choice, params, rows, collection)
    context["chart"], context["links"] = differences.picture_of(result, params, rows, place)
    context |= decision_critical.card(collection, request.user, choice, withheld)
    context |= opened(result, queries, params, request.user, query_id=query_id)
    listing_params = params if place is None else params | {"query": query_id}
    return answer(
        request, differences.listing(result, listing_params, rows), rows, "evaluation/comparison/compare.html", context
    )


def _context(
    result: Comparison, choice: ComparedRuns, params: dict[str, str], rows: list[dict[str, Any]], collection: Collection
) -> dict[str, Any]:
    """Return the main numbers as text."""
    pair, smallest = result.pair, result.settings["smallest_p"]
    # The judged share of the first ten documents, over the judged queries that the run answers.
    unjudged = [stored_scores.unjudged(one) for one in (result.a, result.b)]
    judged = [None if share is None else 1 - share for share in unjudged]
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
        "remarks": verdict.remarks(result, choice.metrics[0], judged, None if choice.weighted else by_traffic(result)),
        "draws": verdict.draws(result),
        "others": [
            {**_line(one, one["metric"]), "url": f"?{urlencode({**params, 'metric': one['metric']})}"}
            for one in exploratory(result, choice.metrics)
        ],
        "not_drawn": ""
        if drawn_at_once(pair["queries"], len(choice.metrics) - 1)
        else f"Intervals and p-values are {NOT_DRAWN}. Choose a single metric to see them.",
        "tiers": _tiers(by_tier(result), result.metric),
        **_most(rows, params, result.metric),
    }


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
    estimates = [intervals.NamedInterval(row["tier"], row["difference"], row["low"], row["high"]) for row in rows]
    axis = intervals.axis_over([*estimates, intervals.NamedInterval("none", 0.0)], 8.0, 172.0)
    return [
        (_line(row, metric), intervals.row_dot(axis, one, best=False, baseline=0.0))
        for row, one in zip(rows, estimates, strict=True)
    ]


def _most(rows: list[dict[str, Any]], params: dict[str, str], metric: str) -> dict[str, Any]:
    """Return the queries with the largest gains and losses."""
    won = [row for row in rows if row["outcome"] == "better"]
    lost = [row for row in reversed(rows) if row["outcome"] == "worse"]
    if not won and not lost:
        return {}
    ends = (("Largest gains", "better", won), ("Largest losses", "worse", lost))
    return {"most": [(title, key, _shown(of[:WON_MOST], params, metric), len(of)) for title, key, of in ends]}


def _shown(rows: list[dict[str, Any]], params: dict[str, str], metric: str) -> list[dict[str, Any]]:
    return [
        {**row, "delta": differences.delta(row["difference"], metric), "url": differences.opening(params, row)}
        for row in rows
    ]


def _file_of(
    request: HttpRequest, result: Comparison, choice: ComparedRuns, params: dict[str, str], rows: list[dict[str, Any]]
) -> HttpResponse | None:
    """Return the chart, or the API response with the queries, the tiers and the other metrics, if requested."""
    collection = result.a.collection
    name = slugify(f"{collection.slug} {result.b.run} against {result.a.run} {result.metric}")
    form = request.GET.get("format", "")
    if form in FORMS:
        return picture(differences.picture_of(result, params, rows, None)[0], name, form)
    if form != "json":
        return None
    body = comparison.as_json(result) | {
        "by_traffic": by_traffic(result),
        "exploratory": exploratory(result, choice.metrics),
        "by_tier": by_tier(result),
        "per_query": rows,
    }
    return json_file(name, snapshots.redacted_for(request.user, collection, body))
