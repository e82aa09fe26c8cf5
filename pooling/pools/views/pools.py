"""Pages of pools: the list, and one pool with its pairs and provenance."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from assay.strategies import STRATEGIES
from judgments.charts import table_files
from judgments.web import access
from judgments.web.lists import Column, Listing, answer
from pooling.models import Pool
from pooling.pools.discovery import made_from, rounds_of
from pooling.pools.strategy_fields import ORDER_WORDS
from pooling.pools.views import discovery, duplicates
from pooling.pools.views.charts import file_of, pictures
from pooling.pools.views.pairs import pairs_of, some_of

POOLS = Listing(
    name="pools",
    noun=("pool", "pools"),
    columns=(
        Column(
            "pool",
            "Pool",
            head=True,
            value=str,
            style="nowrap",
            url=lambda pool: reverse("pool", args=[pool.collection.slug, pool.uuid]),
        ),
        Column("pairs", "Pairs", order="pair_count", numeric=True, value=lambda pool: pool.pair_count),
        Column("queries", "Queries", numeric=True, value=lambda pool: pool.summary.get("queries")),
        Column(
            "runs",
            "Runs",
            value=lambda pool: ", ".join(run.name for run in pool.runs.all()),
            show=lambda pool: some_of([run.name for run in pool.runs.all()]),
            style="clip",
        ),
        Column("residual", "Residual", numeric=True, value=lambda pool: pool.summary.get("residual")),
        Column("seed", "Seed", order="seed", numeric=True, show=lambda pool: str(pool.seed)),
        Column("created_by", "Drawn by", order="created_by__username", value=lambda pool: str(pool.created_by or "")),
        Column("created_at", "Created", order="created_at", style="nowrap"),
        Column("reason", "Reason", value=lambda pool: pool.parameters.get("reason") or "", style="clip muted"),
    ),
    order="-created_at",
)


@login_required
@require_safe
def pool_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.pools.active().select_related("collection", "created_by").prefetch_related("runs")
    context = {
        "collection": collection,
        "step": "pool",
        "has_runs": collection.runs.active().exists(),
        "has_queries": collection.queries.exists(),
    }
    return answer(request, POOLS, rows.annotate(pair_count=Count("entries")), "pooling/pools/pools.html", context)


@login_required
@require_safe
def pool(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    pools = Pool.objects.filter(collection=collection).select_related("collection", "created_by")
    row = access.reach(pools, request.user, access.STAFF, uuid=uuid)
    entries = row.entries.select_related("query", "document", "pool__collection")
    context = {
        "collection": collection,
        "step": "pool",
        "pool": row,
        "pairs": row.entries.count(),
        "strategy": STRATEGIES[row.strategy].title if row.strategy in STRATEGIES else row.strategy,
        "parameters": _parameters(row),
        "runs": list(row.runs.all()),
        "rounds": made_from(row),
        "later": row.entries.filter(origin__has_key="refill").count(),
        **pictures(row.summary),
        **duplicates.of_pool(row, whole=request.GET.get("groups") == "all"),
    }
    context["may_part"] = not context["rounds"] and access.role_in(request.user, collection) in access.LEADS
    context["tables"] += context["group_tables"]
    context |= discovery.shown(request.user, row, rounds_of(row))
    file = discovery.file_of(request, context, f"{collection.slug} {row} discovery")
    return (
        file
        or file_of(request, context, f"{collection.slug} {row}")
        or table_files.file_of(request, context["tables"], context)
        or answer(request, pairs_of(row), entries, "pooling/pools/pool.html", context)
    )


def _parameters(row: Pool) -> list[tuple[str, Any]]:
    known = {one.name: one.title for one in STRATEGIES[row.strategy].parameters} if row.strategy in STRATEGIES else {}
    titles = {
        **known,
        "budget": "Budget, pairs per query",
        "total": "Budget, pairs in total",
        "hours": "Hours per rater",
        "raters": "Raters",
        "ratings_per_pair": "Ratings per pair",
        "seconds": "Seconds per rating",
        "residual": "Residual, pairs per query",
        "relevant_from": "Relevant from grade",
        "duplicates": "Duplicates judged once",
        "similarity": "Similarity of near-duplicates",
        "by": "Order of equal scores",
        "reason": "Reason for these pairs",
        "pairs_sha256": "Hash of the pairs",
    }
    words = {**dict(ORDER_WORDS), "exact": "equal documents", "near": "equal and nearly equal documents"}
    # In the order of the titles, because databases do not preserve the order of JSON keys.
    names = [*titles, *sorted(row.parameters.keys() - titles.keys() - {"apart"})]
    shown = ((name, row.parameters.get(name)) for name in names)
    return [(titles.get(name, name), words.get(value, value)) for name, value in shown if value is not None]
