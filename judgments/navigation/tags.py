"""Template tags of the navigation: menu, collections, breadcrumbs, help, unread notices, tabs of a round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import template
from django.template.context import Context
from django.urls import reverse

from judgments.hooks import PAGES, ROUND_TABS, PageEntry
from judgments.models import Collection, Round
from judgments.navigation import help as docs
from judgments.navigation import search
from judgments.navigation.pages import COLLECTION, CONTENT, EVALUATION, MACHINES, address, arguments, pages_of
from judgments.notices import notices
from judgments.web import access

register = template.Library()

GROUPS = (CONTENT, EVALUATION, MACHINES, COLLECTION)
# Pages of the menu that also have a link beside it on a wide screen.
PINNED = ("documents", "guidelines")
# Collections in the switcher; all are on the home page.
MOST_COLLECTIONS = 50


class Link(NamedTuple):
    name: str
    url: str
    here: bool = False


def route_of(context: Mapping[str, Any]) -> str:
    match = getattr(context.get("request"), "resolver_match", None)
    return (match.url_name or "") if match else ""


@register.simple_tag(takes_context=True)
def page_title(context: Context) -> str:
    """Return the title of the page in the navigation."""
    page = PAGES.get(route_of(context.flatten()))
    return page.title if page else "Assay"


@register.simple_tag(takes_context=True)
def help_url(context: Context) -> str:
    """Return the address of the part of the docs that belongs to the page."""
    return docs.address_of(docs.part_for(route_of(context.flatten())))


@register.simple_tag(takes_context=True)
def collection_menu(context: Context, collection: Collection, role: str) -> dict[str, Any]:
    """Return the groups of the collection's menu, and the links beside it."""
    here = context["request"].path
    pages = pages_of(collection, role)
    groups = [
        (name, [Link(title, url, url == here) for group, title, url in pages if group == name]) for name in GROUPS
    ]
    pinned = [(PAGES[route].title, reverse(route, args=[collection.slug])) for route in PINNED]
    return {
        "groups": [(name, links) for name, links in groups if links],
        "pinned": [Link(name, url, url == here) for name, url in pinned],
    }


@register.simple_tag(takes_context=True)
def my_collections(context: Context) -> list[Link]:
    """Return the collections that the user can open, the one with the newest activity first."""
    rows = search.memberships_of(context["request"].user).filter(role__in=access.STAFF)
    current = context.get("collection")
    return [
        Link(one.collection.name, reverse("collection", args=[one.collection.slug]), one.collection == current)
        for one in rows[:MOST_COLLECTIONS]
    ]


@register.simple_tag(takes_context=True)
def breadcrumbs(context: Context) -> list[Link]:
    """Return the pages above the page; raters get only their own work, because they see no other page above it."""
    route, collection, user = route_of(context.flatten()), context.get("collection"), context["request"].user
    page = PAGES.get(route)
    if page is None or not page.parent:
        return []
    if collection is None:
        return _above_sites(page, user)
    if context.get("my_role") not in access.STAFF:
        return [Link("My work", reverse("home"))]
    known = {**context["request"].resolver_match.kwargs, "slug": collection.slug}
    return _above(page, known, context.flatten())


def _above_sites(page: PageEntry, user: Any) -> list[Link]:
    """Return the page above one that belongs to no collection."""
    above = PAGES[page.parent]
    may_open = user.is_authenticated or not above.roles
    return [Link(above.title, reverse(page.parent))] if arguments(page.parent) == () and may_open else []


def _above(page: PageEntry, known: Mapping[str, Any], context: dict[str, Any]) -> list[Link]:
    links = []
    route, tabs = page.parent, page.tabs
    if context.get("list_url"):
        links.append(Link(context["list_name"], context["list_url"]))
        route = PAGES[route].parent if page.parent != "collection" else route
    while route and route != "home":
        above = PAGES[route]
        url = address(route, known)
        # The head of a round names the round and links its other pages.
        if url and not (tabs and (above.tabs or route == "round_progress")):
            query = above.query(context)
            links.append(Link(above.name(context) if above.name else above.title, f"{url}?{query}" if query else url))
        route = above.parent
    return links[::-1]


@register.simple_tag(takes_context=True)
def round_tabs(context: Context, round_: Round, role: str) -> dict[str, Any]:
    """Return the main tabs of the round, those under More, and the route of the tab that the page belongs to."""
    here, routes = route_of(context.flatten()), {tab.route for tab in ROUND_TABS}
    while here in PAGES and here not in routes:
        here = PAGES[here].parent
    tabs = [tab for tab in ROUND_TABS if role in tab.roles and tab.shown(round_)]
    return {"main": [tab for tab in tabs if tab.main], "more": [tab for tab in tabs if not tab.main], "here": here}


@register.simple_tag
def unread_notices(user: Any) -> int:
    return notices.unread(user)
