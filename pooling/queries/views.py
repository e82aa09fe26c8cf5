"""Query pages of the pooling app: groups of queries and narratives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from assay.core.errors import AssayError, NotValid
from judgments.models import Collection, Pair, Query, QueryGroup, User
from judgments.queries import groups as query_groups
from judgments.queries import narratives
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.lists import ChoiceFilter, Listing, answer, how_many
from judgments.web.pages import errors_as_messages, form_page
from judgments.web.posted_values import searchable, uuid_of
from pooling.queries import needs_form
from pooling.queries.group_proposals import proposals
from pooling.queries.titles import first_titles

# Number of proposals on the page; the others follow after these are decided.
SHOWN_GROUPS = 20
MOST_SPELLINGS = 6
QUERY, GROUP = ("query", "collection.slug", "uuid"), ("query_group", "collection.slug", "uuid")
SHARING = (("yes", "sharing"), ("no", "not sharing"))


@form_page
def group_list(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    return _acted(request, collection) if request.method == "POST" else _page(request, collection)


def _acted(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Run the action; an invalid list is shown in its field again with the error."""
    try:
        messages.success(request, _act(request, collection))
    except AssayError as error:
        if request.POST.get("act") == "listed":
            typed_fields = {name: searchable(request.POST.get(name, "")) for name in ("lines", "name")}
            return _page(request, collection, typed={**typed_fields, "wrong": str(error)})
        messages.error(request, str(error))
    return redirect(request.get_full_path())


def _page(request: HttpRequest, collection: Collection, typed: dict[str, str] | None = None) -> HttpResponse:
    lead = access.role_in(request.user, collection) in access.LEADS
    groups = proposals(collection)
    context = {
        "collection": collection,
        "step": "queries",
        "lead": lead,
        "proposals": groups[:SHOWN_GROUPS],
        "all_proposals": len(groups),
        "queries": collection.queries.count(),
        "typed": typed,
    }
    rows = collection.query_groups.select_related("collection")
    listing, status = _groups(request, collection, lead), 422 if typed else 200
    return answer(request, listing, rows, "pooling/queries/query_groups.html", context, status=status)


def _groups(request: HttpRequest, collection: Collection, lead: bool) -> Listing:
    spelled: dict[str, list[str]] = {}
    rows = collection.queries.exclude(group="").order_by("-frequency", "query_id")
    for name, text in rows.values_list("group", "text"):
        spelled.setdefault(name, []).append(text)

    def share(group: QueryGroup) -> SafeString:
        return render_to_string("pooling/queries/_group_share.html", {"group": group, "lead": lead}, request)

    return Listing(
        name="groups",
        noun=("group", "groups"),
        columns=(
            Column("name", "Group", order="name", head=True, style="clip", url=GROUP),
            Column("queries", "Queries", numeric=True, value=lambda group: len(spelled.get(group.name, ()))),
            Column(
                "spellings",
                "Spellings",
                value=lambda group: " · ".join(spelled.get(group.name, [])),
                show=lambda group: _listed(spelled.get(group.name, [])),
                style="muted",
            ),
            Column(
                "shares", "Judgments", order="shares", value=lambda row: "shared" if row.shares else "apart", show=share
            ),
        ),
        search=("name",),
        choices=(
            ChoiceFilter("sharing", "Judgments", lambda rows, value: rows.filter(shares=value == "yes"), SHARING),
        ),
        order="name",
    )


def _listed(texts: list[str]) -> SafeString:
    """Return the first spellings, each with its own text direction."""
    more = f" and {len(texts) - MOST_SPELLINGS} more" if len(texts) > MOST_SPELLINGS else ""
    spellings = format_html_join(" · ", "<bdi>{}</bdi>", ((text,) for text in texts[:MOST_SPELLINGS]))
    return format_html("{}{}", spellings, more)


def _act(request: HttpRequest, collection: Collection) -> str:
    """Run the lead's action on a proposal or on groups; return a message."""
    act, actor = request.POST.get("act", ""), request.user
    if act in ("share", "apart"):
        groups = collection.query_groups.all()
        named = request.POST.get("group", "")
        if named:
            groups = groups.filter(uuid=uuid_of(named))
        number = query_groups.let_share(collection, groups, shares=act == "share", actor=actor)
        what = "now share their judgments" if act == "share" else "no longer share their judgments"
        return f"{number:,} group{'' if number == 1 else 's'} {what}."
    if act == "refuse":
        query_groups.refuse(collection, chosen(request, collection, "proposed"), actor=actor)
        return "Proposal rejected. Assay will not propose this group again."
    if act not in ("group", "group-share", "listed"):
        raise NotValid("Choose an action.")
    group = query_groups.gather(
        collection,
        queries=_listed_queries(request, collection) if act == "listed" else chosen(request, collection, "query"),
        name=request.POST.get("name", ""),
        actor=actor,
        shares=True if act == "group-share" else None,
    )
    return f"Created the group “{group.name}”."


def chosen(request: HttpRequest, collection: Collection, field: str) -> list[Query]:
    """Return the queries whose ids the form contains."""
    return list(collection.queries.filter(uuid__in=[one for one in request.POST.getlist(field) if uuid_of(one)]))


def _listed_queries(request: HttpRequest, collection: Collection) -> list[Query]:
    """Return the typed queries, one per line, by their id or their text."""
    typed = searchable(request.POST.get("lines", "")).splitlines()
    lines = [line.strip() for line in typed if line.strip()]
    by_id = {query.query_id: query for query in collection.queries.filter(query_id__in=lines)}
    by_text = {query.text: query for query in collection.queries.filter(text__in=lines)}
    strange = [line for line in lines if line not in by_id and line not in by_text]
    if strange:
        more = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
        raise NotValid(
            f"Unknown query: {strange[0][:80]}{more}. No group was changed. Enter ids or texts of queries in this "
            "collection."
        )
    return [by_id.get(line) or by_text[line] for line in lines]


@form_page
def query_group(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    rows = QueryGroup.objects.select_related("collection").filter(collection=collection)
    group = access.reach(rows, request.user, roles, uuid=uuid)
    if request.method == "POST":
        with errors_as_messages(request):
            messages.success(request, _change(request, collection, group))
        there = collection.query_groups.filter(pk=group.pk).exists()
        return redirect(request.path) if there else redirect("query_groups", collection.slug)
    lead = access.role_in(request.user, collection) in access.LEADS
    members = group.queries.select_related("collection").annotate(pair_count=how_many(Pair.objects, "query"))
    others = collection.query_groups.exclude(pk=group.pk)
    context = {"collection": collection, "step": "queries", "group": group, "lead": lead, "others": others[:500]}
    return answer(request, _members(lead), members, "pooling/queries/query_group.html", context)


def _members(lead: bool) -> Listing:
    def choose(query: Query) -> Any:
        return render_to_string("pooling/queries/_group_choose.html", {"query": query}) if lead else ""

    return Listing(
        name="members",
        noun=("query", "queries"),
        columns=(
            *((Column("chosen", "Choose", value=lambda query: "", show=choose),) if lead else ()),
            Column("query", "Query", order="text", value="text", head=True, style="clip", url=QUERY),
            Column("query_id", "Id", order="query_id", style="id clip"),
            Column("frequency", "Searches", order="frequency", numeric=True),
            Column("tier", "Tier", order="tier"),
            Column("pairs", "Pairs", order="pair_count", numeric=True, value="pair_count"),
            Column("narrative", "Need", style="clip muted"),
        ),
        search=("query_id", "text"),
        order="-frequency",
    )


def _change(request: HttpRequest, collection: Collection, group: QueryGroup) -> str:
    act = request.POST.get("act", "")
    actor: User = request.user  # type: ignore[assignment]
    queries: Sequence[Query] = chosen(request, collection, "query")
    if act == "rename":
        return f"Group renamed to “{query_groups.rename(group, name=request.POST.get('name', ''), actor=actor)}”."
    if act == "take-out":
        query_groups.take_out(group, queries, actor=actor)
        return "Query removed from the group."
    if act == "split":
        new = query_groups.gather(collection, queries=queries, name=request.POST.get("name", ""), actor=actor)
        return f"Query moved to “{new}”."
    if act == "merge":
        named = request.POST.get("other", "")
        others: QuerySet[QueryGroup] = collection.query_groups.filter(uuid=uuid_of(named))
        if not others:
            raise NotValid("Choose a group to merge with.")
        query_groups.merge(group, others, actor=actor)
        return "Groups merged."
    if act == "dissolve":
        query_groups.dissolve(group, actor=actor)
        return f"Group “{group}” dissolved."
    shares = act == "share"
    query_groups.let_share(collection, [group], shares=shares, actor=actor)
    return "These queries now share their judgments." if shares else "These queries no longer share their judgments."


PAGE = 10
SHOWN = (("without", "without a need"), ("draft", "with a draft"), ("with", "with a need"))


@form_page
def needs(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    refused: needs_form.Refused = {}
    if request.method == "POST":
        if request.POST.get("act") == "draft":
            return _draft(request, collection)
        refused, written = needs_form.save(request, collection)
        if not refused:
            return redirect(_next(request, written))
    lead = access.role_in(request.user, collection) in access.LEADS
    rows = collection.queries.select_related("collection")
    held = needs_form.held(collection)
    progress = narratives.progress(collection)
    context = {"collection": collection, "step": "queries", "progress": progress, "held": len(held) if lead else 0}
    listing = _listing(request, lead, refused, held)
    return answer(request, listing, rows, "pooling/queries/queries_needs.html", context, 409 if refused else 200)


def _listing(request: HttpRequest, lead: bool, refused: needs_form.Refused, held: dict[int, str]) -> Listing:
    def need(query: Query) -> SafeString:
        return needs_form.cell(request, query, refused, held, lead=lead)

    return Listing(
        name="needs",
        noun=("query", "queries"),
        columns=(
            Column("query", "Query", order="text", value="text", head=True, style="clip", url=QUERY),
            Column("frequency", "Searches", order="frequency", numeric=True),
            Column("narrative", "Need", show=need, style="write"),
            Column("query_id", "Id", order="query_id", style="id clip"),
            Column("draft", "State", value=_state),
        ),
        search=("query_id", "text", "narrative", "draft"),
        choices=(ChoiceFilter("show", "Show", _only, SHOWN), ChoiceFilter("tier", "Tier", "tier", Query.Tier.choices)),
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
