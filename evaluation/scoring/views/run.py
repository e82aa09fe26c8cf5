"""Page of one scored run: its values for each query."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from evaluation.models import Scoring
from evaluation.scoring import leaderboard, metric_values
from evaluation.scoring.stored_scores import scorings_of
from judgments.models import Collection, Query
from judgments.snapshots import snapshots
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import get_page


@get_page
def scoring_page(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.scorings.select_related("snapshot")
    named = rows.filter(uuid=uuid).first()
    if named is None:
        raise Http404
    left_out = snapshots.withheld_queries(request.user, named.snapshot)
    scorings = scorings_of(named.snapshot, per_query=True, left_out=left_out, runs={named.run_id})
    scoring = scorings[0]
    metrics = leaderboard.metrics([scoring])
    scores = {score.metric: score for score in scoring.scores.all()}
    context = {
        "collection": collection,
        "step": "scores",
        "scoring": scoring,
        "scores": [scores[metric] for metric in metrics],
        "left_out": len(left_out),
        "cautions": leaderboard.cautions(leaderboard.rows([scoring], leaderboard.HEADLINE)),
    }
    queries = query_rows(collection, scoring)
    listing = per_query(collection, scoring, metrics, tiers=any(row["tier"] for row in queries))
    return answer(request, listing, queries, "evaluation/scoring/scoring.html", context)


def query_rows(collection: Collection, scoring: Scoring) -> list[dict[str, Any]]:
    """Return one row per query: its text and tier, and its value under every metric."""
    values: dict[str, dict[str, Any]] = {}
    for score in scoring.scores.all():
        for query_id, value in score.per_query.items():
            values.setdefault(query_id, {})[score.metric] = value
    known = {row.query_id: row for row in Query.objects.filter(collection=collection).only("query_id", "text", "tier")}
    return [
        {
            "query_id": query_id,
            "query": known[query_id].text if query_id in known else "",
            "tier": known[query_id].tier if query_id in known else "",
            **metrics,
        }
        for query_id, metrics in values.items()
    ]


def per_query(collection: Collection, scoring: Scoring, metrics: list[str], *, tiers: bool) -> Listing:
    """Return the definition of the list: a column per metric, worst queries first."""
    page = reverse("scores_query", args=[collection.slug])

    def opened(row: dict[str, Any]) -> str:
        return f"{page}?{urlencode({'snapshot': scoring.snapshot.uuid, 'query': row['query_id']})}"

    return Listing(
        name="queries",
        noun=("query", "queries"),
        columns=(
            Column("query", "Query", order="query", url=opened, head=True, style="clip"),
            *(Column(name, name, order=name, numeric=True, value=_value(name), show=_shown(name)) for name in metrics),
            *([Column("tier", "Tier", order="tier", style="muted")] if tiers else []),
            Column("query_id", "Id", order="query_id", style="id"),
        ),
        search=("query_id", "query"),
        choices=(ChoiceFilter("tier", "Tier", "tier", Query.Tier.choices),) if tiers else (),
        order=metrics[0] if metrics else "query_id",
    )


def _value(metric: str) -> Any:
    # Names of metrics contain dots and brackets, so they cannot be attribute paths.
    return lambda row: row.get(metric)


def _shown(metric: str) -> Any:
    return lambda row: metric_values.shown(row.get(metric), metric)
