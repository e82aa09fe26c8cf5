"""Page to write narratives for queries without one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from assay.core.errors import AssayError
from judgments.models import Collection, Query, Round
from judgments.queries import narratives
from judgments.queries.drafting.drafter import unfinished
from judgments.web import access
from judgments.web.lists import Choice, Column, Listing, answer
from judgments.web.pages import form_page
from judgments.web.posted_values import uuid_of
from pooling.queries.titles import first_titles

PAGE = 10
PREFIX = "need-"
SHOWN = (("without", "without a need"), ("draft", "with a draft"), ("with", "with a need"))


@form_page
def needs(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    refused: dict[str, tuple[str, str]] = {}
    if request.method == "POST":
        if request.POST.get("act") == "draft":
            return _draft(request, collection)
        refused, written = _save(request, collection)
        if not refused:
            return redirect(_next(request, written))
    lead = access.role_in(request.user, collection) in access.LEADS
    rows = collection.queries.select_related("collection")
    held = _held(collection)
    progress = narratives.progress(collection)
    context = {"collection": collection, "step": "queries", "progress": progress, "held": len(held) if lead else 0}
    listing = _listing(request, collection, lead, refused, held)
    return answer(request, listing, rows, "pooling/queries/queries_needs.html", context, 409 if refused else 200)


def _held(collection: Collection) -> dict[int, str]:
    """Return the queries of open rounds by key, with the name of the round."""
    rows = Query.objects.filter(collection=collection, pairs__round__state=Round.State.OPEN)
    return dict(rows.values_list("pk", "pairs__round__name").distinct())


def _listing(
    request: HttpRequest,
    collection: Collection,
    lead: bool,
    refused: dict[str, tuple[str, str]],
    held: dict[int, str],
) -> Listing:
    def need(query: Query) -> SafeString:
        text, error = refused.get(str(query.uuid), (query.narrative or query.draft, ""))
        context = {"query": query, "text": text, "error": error, "round": held.get(query.pk), "lead": lead}
        context["seen"] = narratives.version(query)
        return render_to_string("pooling/queries/_need.html", context, request)

    return Listing(
        name="needs",
        noun=("query", "queries"),
        columns=(
            Column(
                "query",
                "Query",
                order="text",
                value=lambda query: query.text,
                url=lambda query: reverse("query", args=[collection.slug, query.uuid]),
                head=True,
                style="clip",
            ),
            Column("frequency", "Searches", order="frequency", numeric=True),
            Column("narrative", "Need", show=need, style="write"),
            Column("query_id", "Id", order="query_id", style="id clip"),
            Column("draft", "State", value=_state),
        ),
        search=("query_id", "text", "narrative", "draft"),
        choices=(Choice("show", "Show", _only, SHOWN), Choice("tier", "Tier", "tier", Query.Tier.choices)),
        order="-frequency",
        page_size=PAGE,
    )


def _only(rows: Any, value: str) -> Any:
    if value == "draft":
        return rows.filter(narrative="").exclude(draft="")
    if value == "with":
        return rows.exclude(narrative="")
    return rows.filter(narrative="")


def _state(query: Query) -> str:
    if query.narrative:
        return "written"
    return f"draft by {query.drafted_by}" if query.draft else "none"


def _save(request: HttpRequest, collection: Collection) -> tuple[dict[str, tuple[str, str]], int]:
    """Save the changes on the page; return the rejected texts with reasons, and the number of saved ones."""
    fields = [(name.removeprefix(PREFIX), text) for name, text in request.POST.items() if name.startswith(PREFIX)]
    texts = {uuid: text for name, text in fields if (uuid := uuid_of(name))}
    rows = collection.queries.filter(uuid__in=texts)
    refused: dict[str, tuple[str, str]] = {}
    written = drafts = 0
    for query in rows.order_by("pk"):
        text = texts[query.uuid].replace("\r\n", "\n").strip()
        agreed = request.POST.get("confirm") == str(query.uuid)
        seen = request.POST.get(f"seen-{query.uuid}")
        untouched = narratives.version_of(text) == seen
        if (untouched or text == (query.narrative or query.draft)) and not agreed:
            continue
        try:
            if unfinished(text) and not agreed and not query.narrative:
                narratives.save_draft(query, text=text, actor=request.user)
                drafts += 1
            else:
                narratives.write(query, text=text, actor=request.user, seen=seen)
                written += 1
        except AssayError as error:
            refused[str(query.uuid)] = (text, str(error))
    if written:
        messages.success(request, f"Saved {written} need{'' if written == 1 else 's'}. Raters can see them now.")
    if drafts:
        messages.info(
            request, f"Saved {drafts} draft{'' if drafts == 1 else 's'}. Raters see them after you fill in the gaps."
        )
    return refused, written


def _draft(request: HttpRequest, collection: Collection) -> HttpResponse:
    number = narratives.draft_missing(
        collection, actor=request.user, titles=lambda rows: first_titles(collection, rows)
    )
    message = f"Drafted {number:,} need{'' if number == 1 else 's'}. Raters see a need after you fill in its gaps."
    messages.success(request, message if number else "Every query already has a need or a draft.")
    return redirect(f"{reverse('queries_needs', args=[collection.slug])}?show=draft")


def _next(request: HttpRequest, written: int) -> str:
    """Return the next page, because queries with a new need leave the list of queries without one."""
    params = request.GET.copy()
    page = params.get("page", "1")
    stays = written and params.get("show") in ("without", "draft")
    if request.POST.get("act") == "next" and not stays:
        params["page"] = str(int(page) + 1 if page.isascii() and page.isdigit() and len(page) < 10 else 2)
    return f"{request.path}?{params.urlencode()}"
