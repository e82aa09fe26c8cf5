"""Lists for a snapshot preview: pairs that a newer round labeled differently, and pairs with stale labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from assay.aggregation import RULES
from judgments.documents.described_pairs import PAIR_COLUMNS, described_pairs
from judgments.labels import grade_visibility
from judgments.models import Round
from judgments.snapshots import baselines, final_labels, merging
from judgments.snapshots.final_labels import Consolidation
from judgments.web import access
from judgments.web.columns import QUERY_COLUMN, Column
from judgments.web.figures import grade
from judgments.web.lists import Listing, answer
from judgments.web.pages import get_page
from judgments.web.posted_values import uuid_of

CHANGES, STALE = "changes", "stale"
DOCUMENT = ("document", "query.collection.slug", "document.uuid")
TEMPLATE = "judgments/snapshots/snapshot_pairs.html"


def address(rounds: Sequence[Round], how: Consolidation) -> str:
    """Return the choice as a query string for these lists."""
    return urlencode({"rounds": ",".join(str(one.uuid) for one in rounds), "rule": how.rule})


@get_page
def changes(request: HttpRequest, slug: str) -> HttpResponse:
    """List the pairs that a newer round labeled differently."""
    rounds, given, context = _chosen(request, slug, CHANGES)
    collection = context["collection"]
    how = Consolidation(given["rule"])
    judged = final_labels.read(collection, rounds, how) if rounds else []
    merged = merging.merge([final_labels.label(rated, how.rule) for rated in judged])
    known: dict[str, set[str]] = {}
    for query_id, doc_id in merged.labels:
        known.setdefault(query_id, set()).add(doc_id)
    withheld = grade_visibility.hiding_round(request.user, collection, lambda: known) is not None
    changed = [] if withheld else merged.changes
    described = described_pairs(collection, [(one.query_id, one.doc_id) for one in changed])
    rows = [{**vars(one), **described[one.query_id, one.doc_id], "steps": one.steps} for one in changed]
    listing = _changes(given, max(rounds[0].scale.values()) if rounds else 3).worded_for(context["subject"])
    return answer(request, listing, rows, TEMPLATE, {**context, "withheld": withheld, "merged": merged})


@get_page
def stale(request: HttpRequest, slug: str) -> HttpResponse:
    """List the pairs whose document has changed since it was judged."""
    rounds, given, context = _chosen(request, slug, STALE)
    rows = baselines.stale_pairs(rounds).select_related("query", "document", "round", "query__collection")
    return answer(request, _stale(given).worded_for(context["subject"]), rows, TEMPLATE, context)


def _chosen(request: HttpRequest, slug: str, kind: str) -> tuple[list[Round], dict[str, str], dict[str, Any]]:
    """Return the chosen rounds, the choice for the list's addresses, and the context of the page."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    wanted = [uuid for text in request.GET.get("rounds", "").split(",") if (uuid := uuid_of(text))]
    rule = request.GET.get("rule", "")
    given = {"rounds": ",".join(map(str, wanted)), "rule": rule if rule in RULES else "median"}
    rows = collection.rounds.filter(uuid__in=wanted).select_related("guidelines", "scale")
    rounds = list(rows.prefetch_related("scale__grades"))
    usual = [("rule", given["rule"]), ("sources", "human"), ("merge", merging.NEWEST)]
    back = urlencode([*(("rounds", one) for one in wanted), *usual])
    context = {"collection": collection, "step": "snapshot", "kind": kind, "back": back}
    return rounds, given, {**context, "subject": next(iter(rounds), None)}


def _changes(given: dict[str, str], top: int) -> Listing:
    return Listing(
        name="labels-changed",
        noun=("pair", "pairs"),
        columns=(
            *PAIR_COLUMNS,
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


def _stale(given: dict[str, str]) -> Listing:
    return Listing(
        name="documents-changed",
        noun=("pair", "pairs"),
        columns=(
            QUERY_COLUMN,
            Column("query_id", "Query id", order="query__query_id", style="id", value="query.query_id"),
            Column("document", "Document", style="clip", value=lambda row: str(row.document), url=DOCUMENT),
            Column("doc_id", "Document id", order="document__doc_id", style="id", value="document.doc_id"),
            Column("round", "Judged in", order="round__name", style="clip", value="round.name"),
            Column("changed_at", "Document changed", order="document__changed_at", value="document.changed_at"),
        ),
        search=("query__text", "document__title", "document__doc_id"),
        order="query",
        given=given,
    )
