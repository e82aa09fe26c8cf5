"""Pages of pools: the list, and one pool with its pairs and provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from assay.strategies import STRATEGIES
from judgments.models import Collection
from judgments.web import access
from judgments.web.columns import QUERY_COLUMN, Column
from judgments.web.figures import number
from judgments.web.lists import ChoiceFilter, Listing, answer, requested_table, small_table
from judgments.web.pages import errors_as_messages, get_page, post_action
from judgments.web.posted_values import searchable
from pooling.models import Pool, PoolEntry
from pooling.pools import duplicates
from pooling.pools.discovery import made_from, rounds_of
from pooling.pools.forms import PoolForm
from pooling.pools.strategy_fields import ORDER_WORDS
from pooling.pools.views import discovery
from pooling.pools.views.charts import file_of, pictures

# Number of rows on the page, by default and expanded; the file has every row.
SHOWN, MOST = 20, 1_000


def _why(row: Mapping[str, Any]) -> str:
    return "equal" if row["why"] == "exact" else f"{row['similarity']:.0%} similar"


GROUPS = (
    Column("query", "Query", head=True, style="clip"),
    Column("title", "Judged", style="clip"),
    Column("rank", "Rank", numeric=True),
    Column("copy_title", "Duplicate", style="clip"),
    Column("copy_rank", "Rank", numeric=True),
    Column("why", "Similarity", value=_why),
    Column("query_id", "Query id", style="id clip"),
    Column("doc_id", "Judged id", style="id"),
    Column("copy_id", "Duplicate’s id", style="id"),
)


def shown(groups: Sequence[Mapping[str, Any]], form: PoolForm | None = None, *, whole: bool = False) -> dict[str, Any]:
    """Return the context of ``_duplicates.html``; with a form, also the URLs that judge one separately."""
    rows = [{**row, "shown_why": _why(row)} for row in groups[: MOST if whole else SHOWN]]
    if form is not None:
        for row in rows:
            pair = json.dumps([row["query_id"], row["copy_id"]], ensure_ascii=False)
            row["apart"] = f"?{form.query(('apart', pair))}"
    apart = [(pair, f"?{form.without_apart(pair)}") for pair in form.choice["apart"]] if form else []
    return {
        "groups": rows,
        "more_groups": len(groups) - len(rows),
        "whole_groups": whole,
        "apart": apart,
        "group_tables": (small_table("duplicates", ("duplicate", "duplicates"), GROUPS, groups),) if groups else (),
    }


def of_pool(pool: Pool, *, whole: bool = False) -> dict[str, Any]:
    """Return the context for a drawn pool."""
    groups = duplicates.groups_of(pool) if pool.summary.get("copies") else []
    return shown([asdict(group) for group in groups], whole=whole)


@post_action.of_collection(access.LEADS)
def pool_apart(request: HttpRequest, collection: Collection, uuid: str) -> HttpResponse:
    pool = access.reach(Pool.objects.filter(collection=collection), request.user, access.LEADS, uuid=uuid)
    query_id, doc_id = (searchable(request.POST.get(name, "")) for name in ("query_id", "doc_id"))
    with errors_as_messages(request):
        duplicates.judge_separately(pool, query_id=query_id, doc_id=doc_id, actor=request.user)
        messages.success(request, f"{doc_id} is now judged separately, as the last pair of this pool.")
    return redirect("pool", collection.slug, pool.uuid)


# Maximum number of names in one cell of a list; the file has all names.
MOST_NAMES = 3


def some_of(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return the first names, and the number of others."""
    more = len(names) - most
    return ", ".join(names) if more < 1 else f"{', '.join(names[:most])} and {more:,} more"


def _returned_by(rows: Any, name: str) -> Any:
    return rows.filter(origin__runs__has_key=name)


def pairs_of(row: Pool) -> Listing:
    """Return the definition of the list; the filter uses the names that the runs had when the pool was created."""
    names = [system["name"] for system in row.summary.get("systems", ())]
    choices = [ChoiceFilter("tier", "Tier", "query__tier", [(tier, tier) for tier in ("head", "torso", "tail")])]
    if names:
        choices.append(ChoiceFilter("run", "Returned by", _returned_by, [(name, name) for name in names]))
    if row.summary.get("residual"):
        kinds = [("chosen", "chosen"), ("residual", "residual")]
        choices.append(ChoiceFilter("why", "Reason", _by_reason, kinds))
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
    return entry.document.title or ("no title stored" if entry.document.stub else entry.document.doc_id)


ENTRY_COLUMNS = (
    Column("position", "Position", order="position", numeric=True, value=lambda entry: entry.position + 1),
    QUERY_COLUMN,
    Column("rank", "Best rank", order="best_rank", numeric=True, value="best_rank"),
    Column(
        "title",
        "Document",
        order="document__title",
        style="clip",
        value=_document,
        url=("document", "pool.collection.slug", "document.uuid"),
    ),
    Column(
        "runs",
        "Returned by, at rank",
        value=lambda entry: ", ".join(finders(entry.origin)),
        show=lambda entry: some_of(finders(entry.origin)),
        style="clip",
    ),
    Column("why", "Reason", value=lambda entry: str(entry.origin.get("why", ""))),
    Column(
        "probability",
        "Inclusion probability",
        numeric=True,
        value=lambda entry: entry.origin.get("probability"),
        show=lambda entry: chance(entry.origin.get("probability")),
    ),
    Column(
        "copies",
        "Duplicates",
        value=lambda entry: ", ".join(copies_of(entry.origin)),
        show=lambda entry: some_of(copies_of(entry.origin)),
        style="clip",
    ),
    Column("query_id", "Query id", order="query__query_id", style="id clip", value="query.query_id"),
    Column("doc_id", "Document id", order="document__doc_id", style="id clip", value="document.doc_id"),
)


def finders(origin: dict[str, Any]) -> list[str]:
    """Return the runs of a pair's provenance with their ranks, best first."""
    ranked = sorted((rank, name) for name, rank in origin.get("runs", {}).items())
    return [f"{name} {rank}" for rank, name in ranked]


def copies_of(origin: dict[str, Any]) -> list[str]:
    """Return the ids of the documents that are judged through this pair."""
    return [copy["doc_id"] for copy in origin.get("copies", ())]


def chance(probability: float | None) -> str:
    """Return the inclusion probability of a pair as text; empty for pairs chosen by a strategy."""
    return "certain" if probability == 1 else number(probability)


POOLS = Listing(
    name="pools",
    noun=("pool", "pools"),
    columns=(
        Column("pool", "Pool", head=True, value=str, style="nowrap", url=("pool", "collection.slug", "uuid")),
        Column("pairs", "Pairs", order="pair_count", numeric=True, value="pair_count"),
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


@get_page.of_collection(access.STAFF)
def pool_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = collection.pools.active().select_related("collection", "created_by").prefetch_related("runs")
    context = {
        "collection": collection,
        "step": "pool",
        "has_runs": collection.runs.active().exists(),
        "has_queries": collection.queries.exists(),
    }
    return answer(request, POOLS, rows.annotate(pair_count=Count("entries")), "pooling/pools/pools.html", context)


@get_page.of_collection(access.STAFF)
def pool(request: HttpRequest, collection: Collection, uuid: str) -> HttpResponse:
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
        **of_pool(row, whole=request.GET.get("groups") == "all"),
    }
    context["may_part"] = not context["rounds"] and access.role_in(request.user, collection) in access.LEADS
    context["tables"] += context["group_tables"]
    context |= discovery.shown(request.user, row, rounds_of(row))
    file = discovery.file_of(request, context, f"{collection.slug} {row} discovery")
    return (
        file
        or file_of(request, context, f"{collection.slug} {row}")
        or requested_table(request, context["tables"], context)
        or answer(request, pairs_of(row), entries, "pooling/pools/pool.html", context)
    )


def _parameters(row: Pool) -> list[tuple[str, Any]]:
    known = {one.name: one.title for one in STRATEGIES[row.strategy].parameters} if row.strategy in STRATEGIES else {}
    titles = {
        **known,
        "budget": "Maximum pairs per query",
        "total": "Maximum pairs in total",
        "hours": "Hours per rater",
        "raters": "Raters",
        "ratings_per_pair": "Ratings per pair",
        "seconds": "Seconds per rating",
        "residual": "Residual pairs per query",
        "relevant_from": "Lowest relevant grade",
        "duplicates": "Duplicates judged once",
        "similarity": "Similarity of near-duplicates",
        "by": "Order of equal scores",
        "reason": "Reason for these pairs",
        "pairs_sha256": "Hash of the pairs",
    }
    words = {**dict(ORDER_WORDS), "exact": "exact duplicates", "near": "exact and near duplicates"}
    # In the order of the titles, because databases do not preserve the order of JSON keys.
    names = [*titles, *sorted(row.parameters.keys() - titles.keys() - {"apart"})]
    shown = ((name, row.parameters.get(name)) for name in names)
    return [(titles.get(name, name), words.get(value, value)) for name, value in shown if value is not None]
