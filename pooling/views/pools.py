"""Which pairs were chosen for judging, and why each of them?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from judgments import access
from judgments.templatetags.figures import number
from judgments.views.lists import Choice, Column, Listing, answer
from pooling import discovery as found
from pooling.models import Pool, PoolEntry
from pooling.pool_fields import ORDER_WORDS
from pooling.strategies import STRATEGIES
from pooling.views import discovery, duplicates, tables
from pooling.views.pictures import file_of, pictures

POOLS = Listing(
    name="pools",
    noun=("pool", "pools"),
    columns=(
        Column(
            "pool",
            "Pool",
            head=True,
            value=str,
            url=lambda pool: reverse("pool", args=[pool.collection.slug, pool.uuid]),
        ),
        Column("pairs", "Pairs", order="pair_count", numeric=True, value=lambda pool: pool.pair_count),
        Column("queries", "Queries", numeric=True, value=lambda pool: pool.summary.get("queries")),
        Column("runs", "Runs", value=lambda pool: ", ".join(run.name for run in pool.runs.all()), style="clip"),
        Column("residual", "Residual", numeric=True, value=lambda pool: pool.summary.get("residual")),
        Column("seed", "Seed", order="seed", numeric=True, show=lambda pool: str(pool.seed)),
        Column("created_by", "Drawn by", order="created_by__username", value=lambda pool: str(pool.created_by or "")),
        Column("created_at", "When", order="created_at", style="nowrap"),
        Column("reason", "Why", value=lambda pool: pool.parameters.get("reason") or "", style="clip muted"),
    ),
    order="-created_at",
)


@login_required
@require_safe
def pool_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.pools.select_related("collection", "created_by").prefetch_related("runs")
    context = {
        "collection": collection,
        "step": "pool",
        "has_runs": collection.runs.exists(),
        "has_queries": collection.queries.exists(),
    }
    return answer(request, POOLS, rows.annotate(pair_count=Count("entries")), "pooling/pools.html", context)


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
        "rounds": _rounds_of(row),
        "later": row.entries.filter(origin__has_key="refill").count(),
        **pictures(row.summary),
        **duplicates.of_pool(row, whole=request.GET.get("groups") == "all"),
    }
    context["may_part"] = not context["rounds"] and access.role_in(request.user, collection) in access.LEADS
    context["tables"] += context["group_tables"]
    context |= discovery.shown(request.user, row, found.rounds_of(row))
    file = discovery.file_of(request, context, f"{collection.slug} {row} discovery")
    return (
        file
        or file_of(request, context, f"{collection.slug} {row}")
        or tables.file_of(request, context["tables"], context)
        or answer(request, _entries(row), entries, "pooling/pool.html", context)
    )


def _parameters(row: Pool) -> list[tuple[str, Any]]:
    known = {one.name: one.title for one in STRATEGIES[row.strategy].parameters} if row.strategy in STRATEGIES else {}
    titles = {
        **known,
        "budget": "Budget, pairs a query",
        "total": "Budget, pairs in all",
        "hours": "Hours of each rater",
        "raters": "Raters",
        "ratings_per_pair": "Ratings per pair",
        "seconds": "Seconds a rating",
        "residual": "Residual, pairs a query",
        "relevant_from": "Relevant from grade",
        "duplicates": "Judged once",
        "similarity": "Nearly equal from",
        "by": "Equal scores go",
        "reason": "Why these pairs",
        "pairs_sha256": "Hash of the pairs",
    }
    words = {**dict(ORDER_WORDS), "exact": "equal documents", "near": "equal and nearly equal documents"}
    # In the order of the titles: a database keeps JSON in an order of its own.
    names = [*titles, *sorted(row.parameters.keys() - titles.keys() - {"apart"})]
    shown = ((name, row.parameters.get(name)) for name in names)
    return [(titles.get(name, name), words.get(value, value)) for name, value in shown if value is not None]


def _rounds_of(row: Pool) -> Any:
    """The rounds that were made from this pool: the first pair of each knows where it comes from."""
    return row.collection.rounds.filter(pairs__position=0, pairs__origin__pool=str(row.uuid))


def _found_by(rows: Any, name: str) -> Any:
    return rows.filter(origin__runs__has_key=name)


def _entries(row: Pool) -> Listing:
    """The list's declaration; the filter offers the pool's runs by the names that they had when it was drawn."""
    names = [system["name"] for system in row.summary.get("systems", ())]
    choices = [Choice("tier", "Tier", "query__tier", [(tier, tier) for tier in ("head", "torso", "tail")])]
    if names:
        choices.append(Choice("run", "Found by", _found_by, [(name, name) for name in names]))
    if row.summary.get("residual"):
        kinds = [("chosen", "chosen"), ("residual", "residual")]
        choices.append(Choice("why", "Why", _by_reason, kinds))
    return Listing(
        name="pairs",
        noun=("pair", "pairs"),
        columns=ENTRY_COLUMNS,
        search=("query__query_id", "query__text", "document__doc_id", "document__title"),
        choices=tuple(choices),
        order="position",
    )


def _by_reason(rows: Any, value: str) -> Any:
    residual = Q(origin__why="residual")
    return rows.filter(residual) if value == "residual" else rows.exclude(residual)


def _document(entry: PoolEntry) -> str:
    return entry.document.title or ("only its id is known" if entry.document.stub else entry.document.doc_id)


ENTRY_COLUMNS = (
    Column("position", "Place", order="position", numeric=True, value=lambda entry: entry.position + 1),
    Column("query", "Query", order="query__text", head=True, style="clip", value=lambda entry: entry.query.text),
    Column("rank", "Best rank", order="best_rank", numeric=True, value=lambda entry: entry.best_rank),
    Column(
        "title",
        "Document",
        order="document__title",
        style="clip",
        value=_document,
        url=lambda entry: reverse("document", args=[entry.pool.collection.slug, entry.document.uuid]),
    ),
    Column("runs", "Found by, at rank", value=lambda entry: found_by(entry.origin), style="clip"),
    Column("why", "Why", value=lambda entry: str(entry.origin.get("why", ""))),
    Column(
        "probability",
        "Chance",
        numeric=True,
        value=lambda entry: entry.origin.get("probability"),
        show=lambda entry: chance(entry.origin.get("probability")),
    ),
    Column("copies", "Judged with it", value=lambda entry: copies_of(entry.origin), style="clip"),
    Column("query_id", "Query id", order="query__query_id", style="id", value=lambda entry: entry.query.query_id),
    Column("doc_id", "Document id", order="document__doc_id", style="id clip", value=lambda e: e.document.doc_id),
)


def found_by(origin: dict[str, Any]) -> str:
    """The runs of a pair's provenance with their ranks.

    Examples
    --------
    >>> found_by({"runs": {"bm25": 1, "neural": 4}})
    'bm25 1, neural 4'
    """
    ranked = sorted((rank, name) for name, rank in origin.get("runs", {}).items())
    return ", ".join(f"{name} {rank}" for rank, name in ranked)


def copies_of(origin: dict[str, Any]) -> str:
    """The documents that are judged as this pair's, by their ids.

    Examples
    --------
    >>> copies_of({"copies": [{"doc_id": "d4"}, {"doc_id": "d9"}]})
    'd4, d9'
    """
    return ", ".join(copy["doc_id"] for copy in origin.get("copies", ()))


def chance(probability: float | None) -> str:
    """The probability with which a pair was drawn; what a strategy chose was certain."""
    return "certain" if probability == 1 else number(probability)
