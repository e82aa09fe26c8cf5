"""Guideline pages: the versions, their text, and what changed between two."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse

from judgments.guidelines import examples, files
from judgments.guidelines import guidelines as verbs
from judgments.models import Collection, GuidelinesVersion
from judgments.web import access
from judgments.web.downloads import attachment
from judgments.web.lists import Column, Listing, answer
from judgments.web.pages import get_page

# Number of older versions offered for comparison; the list has all of them.
MOST_OFFERED = 200

VERSIONS = Listing(
    name="guidelines",
    noun=("version", "versions"),
    columns=(
        Column(
            "number",
            "Version",
            order="number",
            head=True,
            show=str,
            url=lambda version: reverse("guidelines_version", args=[version.uuid]),
        ),
        Column("rounds", "Rounds", order="round_count", numeric=True, value=lambda version: version.round_count),
        Column("words", "Words", numeric=True, value=lambda version: len(version.markdown.split())),
        Column("created_by", "Written by", value=lambda version: str(version.created_by or "")),
        Column("created_at", "Created", order="created_at", style="nowrap"),
        Column("sha256", "SHA-256", show=lambda version: f"{version.sha256[:12]}…", style="id"),
    ),
    search=("markdown",),
    order="-number",
)


@get_page
def version_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = (
        examples.readable(request.user, collection).select_related("created_by").annotate(round_count=Count("rounds"))
    )
    context = {
        "collection": collection,
        "step": "round",
        "waiting": examples.visible_examples(request.user, collection),
        "latest": verbs.latest(collection),
    }
    context["round_address"] = round_address(collection, context["latest"])
    return answer(request, VERSIONS, rows, "judgments/guidelines/guidelines.html", context)


@get_page
def version(request: HttpRequest, uuid: str) -> HttpResponse:
    """Show the text, or with ``?against=N`` the changes since version N."""
    row = _version(request, uuid)
    readable = examples.readable(request.user, row.collection)
    earlier = _other_version(readable.exclude(pk=row.pk), request.GET.get("against", ""))
    context = {
        "collection": row.collection,
        "version": row,
        "latest": verbs.latest(row.collection),
        "step": "round",
        "against": earlier,
        "difference": verbs.difference(earlier, row) if earlier else "",
        "previous": readable.filter(number__lt=row.number).order_by("-number").first(),
        "others": readable.exclude(pk=row.pk).order_by("-number")[:MOST_OFFERED],
        "examples": examples.written_in(row),
        "rounds": row.rounds.order_by("-created_at")[:MOST_OFFERED],
        "round_address": round_address(row.collection, row),
    }
    return render(request, "judgments/guidelines/guidelines_version.html", context)


@get_page
def file(request: HttpRequest, uuid: str) -> HttpResponse:
    """Return the version as a Markdown file."""
    row = _version(request, uuid)
    return attachment(files.file_name(row), files.as_text(row))


def _version(request: HttpRequest, uuid: str) -> GuidelinesVersion:
    rows = GuidelinesVersion.objects.select_related("collection", "created_by")
    # Raters may open it too, because it is written for them.
    row = access.reach(rows, request.user, access.EVERYBODY, uuid=uuid)
    examples.check_readable(request.user, row)
    return row


def _other_version(readable: QuerySet[GuidelinesVersion], number: str) -> GuidelinesVersion | None:
    """Return the other version named in the address, or None."""
    if not (number.isascii() and number.isdigit() and len(number) < 7):
        return None
    return readable.filter(number=int(number)).first()


def round_address(collection: Collection, row: GuidelinesVersion | None) -> str:
    """Return the address for a new round with this version and the last round's settings; empty if there is none."""
    if row is None:
        return ""
    last = collection.rounds.order_by("-created_at", "-pk").first()
    query: dict[str, Any] = {"guidelines": row.uuid, **({"after": last.uuid} if last else {})}
    try:
        return f"{reverse('round_new', args=[collection.slug])}?{urlencode(query)}"
    except NoReverseMatch:  # the pooling app, which creates rounds, is not installed
        return ""
