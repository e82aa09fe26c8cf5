"""List of label sources: imported labels and clicks."""

from __future__ import annotations

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from judgments.labels import grade_visibility
from judgments.models import LabelSource
from judgments.web import access
from judgments.web.lists import Choice, Column, Listing, answer
from judgments.web.pages import get_page

LABEL_SOURCES = Listing(
    name="label-sources",
    noun=("label source", "label sources"),
    columns=(
        Column("name", "Source", order="name", head=True, style="clip", url=lambda source: _page(source)),
        Column("kind", "Kind", order="kind", value=lambda source: source.get_kind_display()),
        Column("labels", "Labels", order="label_count", numeric=True, value=lambda source: source.label_count),
        Column("queries", "Queries", order="query_count", numeric=True, value=lambda source: source.query_count),
        Column("created_by", "Stored by", value=lambda source: str(source.created_by or "")),
        Column("created_at", "Stored", order="created_at", style="nowrap"),
        Column("sha256", "SHA-256", show=lambda source: f"{source.sha256[:12]}…", style="id"),
    ),
    search=("name",),
    choices=(Choice("kind", "Kind", "kind", LabelSource.Kind.choices),),
    order="-created_at",
)


@get_page
def source_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.label_sources.select_related("collection", "created_by").annotate(
        label_count=Count("labels"), query_count=Count("labels__query", distinct=True)
    )
    shown = grade_visibility.may_read_hashes(request.user, collection)
    listing = LABEL_SOURCES if shown else LABEL_SOURCES.without("sha256")
    return answer(request, listing, rows, "judgments/imports/label_sources.html", {"collection": collection})


def _page(source: LabelSource) -> str:
    """Return the page of labels from clicks; imported labels have no page."""
    if source.kind != LabelSource.Kind.CLICKS:
        return ""
    return reverse("click_source", args=[source.collection.slug, source.uuid])
