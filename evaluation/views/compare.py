"""Is one run better than another, on which queries, and by what documents?"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from evaluation import charts, leaderboard, rankings
from evaluation.comparison import Comparison
from evaluation.comparison import compare as compared
from evaluation.models import Scoring
from evaluation.views.pictures import picture
from evaluation.views.scores import chosen_snapshot
from judgments import access
from judgments.models import Query
from judgments.views.lists import Choice, Column, Listing, answer

OUTCOMES = [("better", "better"), ("equal", "equal"), ("worse", "worse")]


@login_required
@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    rows = snapshot.scorings.select_related("run", "snapshot").prefetch_related("scores") if snapshot else []
    found = list(rows)
    context = {"collection": collection, "step": "scores", "snapshot": snapshot, "scorings": found}
    if len(found) < 2:
        return render(request, "evaluation/compare_empty.html", context)
    metrics = leaderboard.metrics(found)
    metric = request.GET.get("metric", "")
    metric = metric if metric in metrics else metrics[0]
    a, b = _pair(found, metric, request.GET.get("a", ""), request.GET.get("b", ""))
    comparison = compared(a, b, metric)
    asked = {"snapshot": str(snapshot.uuid), "a": str(a.run.uuid), "b": str(b.run.uuid), "metric": metric}
    queries = {row.query_id: row for row in collection.queries.only("query_id", "text", "tier", "narrative")}
    opened = request.GET.get("query", "")
    context |= {"comparison": comparison, "metrics": metrics, "metric": metric, "address": f"?{urlencode(asked)}"}
    context["chart"] = _chart(comparison, opened)
    if request.GET.get("format") == "svg":
        return picture(context["chart"], f"{collection.slug} {b.run} against {a.run} {metric}")
    context |= _opened(comparison, queries, opened, f"?{urlencode(asked)}", request.user) | _figures(comparison)
    rows = _rows(comparison, queries)
    return answer(request, _listing(comparison, asked, rows), rows, "evaluation/compare.html", context)


def _pair(found: list[Scoring], metric: str, a: str, b: str) -> tuple[Scoring, Scoring]:
    """The runs named by id or name; whichever is not named is the best of the others, and the best is the candidate."""
    order = [row.scoring for row in leaderboard.rows(found, metric)]
    named = {key: _named(order, text) for key, text in (("a", a), ("b", b))}
    rest = [scoring for scoring in order if scoring not in named.values()]
    second = named["b"] or rest.pop(0)
    first = named["a"] or rest.pop(0)
    return (first, second) if first != second else (rest.pop(0), second)


def _named(found: list[Scoring], text: str) -> Scoring | None:
    return next((scoring for scoring in found if text in (str(scoring.run.uuid), scoring.run.name)), None)


def _judged(scoring: Scoring) -> float | None:
    return next((score.mean for score in scoring.scores.all() if score.metric == "Judged@10"), None)


def _figures(comparison: Comparison) -> dict[str, Any]:
    """The numbers above the picture, written out."""
    numbers = {"mean": comparison.mean, "low": comparison.low, "high": comparison.high}
    counts = {outcome: comparison.count(outcome) for outcome, _ in OUTCOMES}
    judged = [_judged(comparison.a), _judged(comparison.b)]
    return (
        {name: None if value is None else signed(value) for name, value in numbers.items()}
        | counts
        | {"judged": judged}
    )


def _chart(comparison: Comparison, opened: str) -> Any:
    ids = [one.query_id for one in comparison.differences]
    counts = ", ".join(f"{comparison.count(outcome)} {outcome}" for outcome, _ in OUTCOMES)
    label = f"Difference in {comparison.metric} for each of {len(ids)} queries, sorted: {counts}"
    place = ids.index(opened) if opened in ids else None
    return charts.differences([one.value for one in comparison.differences], label, place)


def _opened(comparison: Comparison, queries: dict[str, Query], opened: str, base: str, user: Any) -> dict[str, Any]:
    """The query that is looked at: both runs' first documents, and the queries before and after it in the order."""
    ids = [one.query_id for one in comparison.differences]
    if opened not in ids or opened not in queries:
        return {}
    place = ids.index(opened)
    runs = [comparison.a.run, comparison.b.run]
    hidden = rankings.hidden_from(user, comparison.a.collection, opened)
    around = {"before": ids[place - 1] if place else "", "after": ids[place + 1] if place + 1 < len(ids) else ""}
    return {
        "query": queries[opened],
        "difference": comparison.differences[place],
        "opened_delta": signed(comparison.differences[place].value),
        "answers": rankings.answers(comparison.a.snapshot, runs, opened, hidden=hidden),
        **{name: f"{base}&{urlencode({'query': query_id})}#opened" for name, query_id in around.items() if query_id},
    }


def _rows(comparison: Comparison, queries: dict[str, Query]) -> list[dict[str, Any]]:
    return [
        {
            "query_id": one.query_id,
            "query": queries[one.query_id].text if one.query_id in queries else one.query_id,
            "tier": queries[one.query_id].tier if one.query_id in queries else "",
            "difference": one.value,
            "a": one.a,
            "b": one.b,
            "outcome": one.outcome,
        }
        for one in comparison.differences
    ]


def _listing(comparison: Comparison, asked: dict[str, str], rows: list[dict[str, Any]]) -> Listing:
    """The list's declaration; its own parameters stand beside those that name the comparison."""
    tiers = any(row["tier"] for row in rows)
    return Listing(
        name="differences",
        noun=("query", "queries"),
        columns=(
            Column("query", "Query", order="query", head=True, style="clip", url=lambda row: _open(asked, row)),
            Column("difference", "Difference", order="difference", numeric=True, show=_delta),
            Column("a", comparison.a.run.name, order="a", numeric=True),
            Column("b", comparison.b.run.name, order="b", numeric=True),
            *([Column("tier", "Tier", order="tier", style="muted")] if tiers else []),
            Column("query_id", "Id", order="query_id", style="id"),
        ),
        search=("query_id", "query"),
        choices=(
            Choice("outcome", "Outcome", "outcome", OUTCOMES),
            *([Choice("tier", "Tier", "tier", Query.Tier.choices)] if tiers else []),
        ),
        order="-difference",
        page_size=25,
        given=asked,
    )


def _open(asked: dict[str, str], row: dict[str, Any]) -> str:
    return f"?{urlencode({**asked, 'query': row['query_id']})}#opened"


def _delta(row: dict[str, Any]) -> Any:
    return delta(row["difference"])


def delta(value: float) -> Any:
    """A difference with its sign and its color; the sign says it all."""
    sign = "better" if value > 0 else "worse" if value < 0 else "same"
    return format_html('<span class="delta" data-sign="{}">{}</span>', sign, signed(value))


def signed(value: float) -> str:
    """A difference with its sign, a true minus for the minus."""
    return f"{value:+.3f}".replace("-", "−") if value else "0.000"
