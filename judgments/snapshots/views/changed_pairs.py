"""Lists for a snapshot preview: pairs that a newer round labeled differently, and pairs with stale labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from assay.aggregation.rules import RULES
from judgments.documents.answers import questions_of
from judgments.labels import grade_visibility
from judgments.models import Collection, Document, Pair, Round
from judgments.snapshots import baselines, final_labels, merging
from judgments.snapshots.final_labels import Consolidation
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import grade
from judgments.web.lists import Listing, answer
from judgments.web.pages import get_page
from judgments.web.posted_values import uuid_of

CHANGES, STALE = "changes", "stale"
TEMPLATE = "judgments/snapshots/snapshot_pairs.html"


def address(rounds: Sequence[Round], how: Consolidation) -> str:
    """Return the choice as a query string for these lists."""
    return urlencode({"rounds": ",".join(str(one.uuid) for one in rounds), "rule": how.rule})


@get_page
def changes(request: HttpRequest, slug: str) -> HttpResponse:
    """List the pairs that a newer round labeled differently."""
    collection, rounds, given, context = _chosen(request, slug, CHANGES)
    how = Consolidation(given["rule"])
    judged = final_labels.read(collection, rounds, how) if rounds else []
    merged = merging.merge([final_labels.label(rated, how.rule) for rated in judged])
    known: dict[str, set[str]] = {}
    for query_id, doc_id in merged.labels:
        known.setdefault(query_id, set()).add(doc_id)
    withheld = grade_visibility.hiding_round(request.user, collection, lambda: known) is not None
    rows = [] if withheld else _named(collection, merged.changes)
    listing = _changes(given, max(rounds[0].scale.values()) if rounds else 3).worded_for(context["subject"])
    return answer(request, listing, rows, TEMPLATE, {**context, "withheld": withheld, "merged": merged})


@get_page
def stale(request: HttpRequest, slug: str) -> HttpResponse:
    """List the pairs whose document has changed since it was judged."""
    collection, rounds, given, context = _chosen(request, slug, STALE)
    rows = baselines.stale_pairs(rounds).select_related("query", "document", "round", "query__collection")
    return answer(request, _stale(given, collection).worded_for(context["subject"]), rows, TEMPLATE, context)


def _chosen(
    request: HttpRequest, slug: str, kind: str
) -> tuple[Collection, list[Round], dict[str, str], dict[str, Any]]:
    """Return the collection, the chosen rounds, the choice for the list's addresses, and the context of the page."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    wanted = [uuid for text in request.GET.get("rounds", "").split(",") if (uuid := uuid_of(text))]
    rule = request.GET.get("rule", "")
    given = {"rounds": ",".join(map(str, wanted)), "rule": rule if rule in RULES else "median"}
    rows = collection.rounds.filter(uuid__in=wanted).select_related("guidelines", "scale")
    rounds = list(rows.prefetch_related("scale__grades"))
    usual = [("rule", given["rule"]), ("sources", "human"), ("merge", merging.NEWEST)]
    back = urlencode([*(("rounds", one) for one in wanted), *usual])
    context = {"collection": collection, "step": "snapshot", "kind": kind, "back": back}
    return collection, rounds, given, {**context, "subject": next(iter(rounds), None)}


def _named(collection: Collection, changes: Sequence[merging.Change]) -> list[dict[str, Any]]:
    """Add the query texts and document titles to the changes."""
    queries = dict(collection.queries.values_list("query_id", "text"))
    wanted = {one.doc_id for one in changes}
    questions = questions_of(collection, list(wanted))
    titles: dict[str, tuple[str, Any]] = {}
    documents = Document.of_any_kind.filter(collection=collection, pairs__isnull=False).distinct()
    for doc_id, title, uuid in documents.values_list("doc_id", "title", "uuid").iterator():
        if doc_id in wanted:
            titles[doc_id] = (title or doc_id, uuid)
    return [
        {
            **vars(one),
            "query": str(questions.get((one.query_id, one.doc_id)) or queries.get(one.query_id, one.query_id)),
            "title": titles[one.doc_id][0],
            "url": reverse("document", args=[collection.slug, titles[one.doc_id][1]]),
            "steps": one.steps,
        }
        for one in changes
    ]


def _changes(given: dict[str, str], top: int) -> Listing:
    return Listing(
        name="labels-changed",
        noun=("pair", "pairs"),
        columns=(
            Column("query", "Query", order="query", head=True, style="clip"),
            Column("query_id", "Query id", order="query_id", style="id"),
            Column("title", "Document", order="title", style="clip", url=lambda row: row["url"]),
            Column("doc_id", "Document id", order="doc_id", style="id"),
            Column("before", "Before", order="before", numeric=True, show=lambda row: grade(row["before"], top)),
            Column("after", "After", order="after", numeric=True, show=lambda row: grade(row["after"], top)),
            Column("steps", "Difference", order="steps", numeric=True),
            Column("older", "Older round", order="older", style="clip"),
            Column("newer", "Newer round", order="newer", style="clip"),
        ),
        search=("query", "title", "doc_id"),
        order="-steps",
        given=given,
    )


def _stale(given: dict[str, str], collection: Collection) -> Listing:
    def document(pair: Pair) -> str:
        return reverse("document", args=[collection.slug, pair.document.uuid])

    return Listing(
        name="documents-changed",
        noun=("pair", "pairs"),
        columns=(
            Column("query", "Query", order="query__text", head=True, style="clip", value="query.text"),
            Column("query_id", "Query id", order="query__query_id", style="id", value="query.query_id"),
            Column("document", "Document", style="clip", value=lambda row: str(row.document), url=document),
            Column("doc_id", "Document id", order="document__doc_id", style="id", value="document.doc_id"),
            Column("round", "Judged in", order="round__name", style="clip", value="round.name"),
            Column("changed_at", "Document changed", order="document__changed_at", value="document.changed_at"),
        ),
        search=("query__text", "document__title", "document__doc_id"),
        order="query",
        given=given,
    )
