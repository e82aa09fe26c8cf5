"""Which queries stand for the traffic, and what does each one mean?"""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from judgments import access
from judgments.models import Judgment, Pair, Query
from judgments.views.lists import Choice, Column, Listing, answer, how_many


def _address(query: Query) -> str:
    return reverse("query", args=[query.collection.slug, query.uuid])


QUERIES = Listing(
    name="queries",
    noun=("query", "queries"),
    columns=(
        Column("query_id", "Id", order="query_id", style="id"),
        Column("query", "Query", order="text", value=lambda query: query.text, url=_address, head=True, style="clip"),
        Column("frequency", "Searches", order="frequency", numeric=True),
        Column("tier", "Tier", order="tier"),
        Column("clients", "People", order="clients", numeric=True),
        Column("probability", "Probability", order="probability", numeric=True),
        Column("weight", "Weight", order="weight", numeric=True, digits=5),
        Column("group", "Group", order="group", style="id"),
        Column("narrative", "Need", style="clip muted"),
        Column("pairs", "Pairs", order="pair_count", numeric=True, value=lambda query: query.pair_count),
    ),
    search=("query_id", "text", "narrative"),
    choices=(
        Choice("tier", "Tier", "tier", Query.Tier.choices),
        Choice(
            "need",
            "Need",
            lambda rows, value: rows.filter(narrative="") if value == "without" else rows.exclude(narrative=""),
            [("with", "with a need"), ("without", "without")],
        ),
    ),
    order="query_id",
)


@login_required
@require_safe
def query_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.queries.select_related("collection").annotate(pair_count=how_many(Pair.objects, "query"))
    context = {"collection": collection, "step": "queries", "sample": collection.query_samples.first()}
    return answer(request, QUERIES, rows, "judgments/queries.html", context)


PAIRS = Listing(
    name="pairs",
    noun=("pair", "pairs"),
    columns=(
        Column("round", "Round", order="round__name", value=lambda pair: pair.round.name),
        Column("doc_id", "Document", order="document__doc_id", value=lambda pair: pair.document.doc_id, style="id"),
        Column(
            "title",
            "Title",
            order="document__title",
            value=lambda pair: str(pair.document),
            url=lambda pair: reverse("document", args=[pair.round.collection.slug, pair.document.uuid]),
            head=True,
            style="clip",
        ),
        # Counts only: a lead who also rates must not meet a grade here.
        Column("ratings", "Ratings", order="ratings", numeric=True),
        Column("ratings_wanted", "Wanted", order="ratings_wanted", numeric=True),
    ),
    search=("document__doc_id", "document__title", "round__name"),
    order="round",
)


@login_required
@require_safe
def query(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = collection.queries.select_related("sample").filter(uuid=uuid).first()
    if row is None:
        raise Http404
    pairs = Pair.objects.filter(query=row).select_related("round__collection", "document", "query")
    pairs = pairs.annotate(ratings=how_many(Judgment.objects.counted(), "pair"))
    context = {"collection": collection, "query": row, "step": "queries"}
    return answer(request, PAIRS, pairs, "judgments/query.html", context)
