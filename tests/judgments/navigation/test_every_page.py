"""Tests of help links, breadcrumbs and tabs on every page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.urls import resolve

from judgments.hooks import PAGES
from judgments.navigation import help as docs
from judgments.navigation.pages import address as page_address
from judgments.navigation.pages import arguments
from tests.test_access_matrix import LINES, WHO, address
from tests.world import World, make_world

pytestmark = pytest.mark.django_db
Pages = Iterator[tuple[str, str]]
PEOPLE = ("rater", "engineer", "lead", "anonymous")


class Links(HTMLParser):
    """The links of a page: those to help, those of the breadcrumbs, and the main tabs; and its first heading."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.help: list[str] = []
        self.crumbs: list[tuple[str, str]] = []
        self.heading = ""
        self._within = ""
        self._heading_open = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        if tag == "nav" and own.get("aria-label") == "Breadcrumbs":
            self._within = "crumbs"
        if tag == "a" and own.get("rel") == "help":
            self.help.append(own["href"] or "")
        if tag == "a" and self._within == "crumbs":
            self.crumbs.append((own["href"] or "", ""))
        if tag == "h1" and not self.heading:
            self._heading_open = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "nav":
            self._within = ""
        if tag == "h1":
            self._heading_open = False

    def handle_data(self, data: str) -> None:
        if self._heading_open:
            self.heading += data
        elif self._within == "crumbs" and self.crumbs and data.strip():
            href, name = self.crumbs[-1]
            self.crumbs[-1] = (href, (name + " " + data.strip()).strip())


@pytest.fixture
def world(collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any, settings: Any) -> World:
    settings.INVITE_LINKS = True
    return make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)


@pytest.fixture
def pages(request: pytest.FixtureRequest, world: World, client_of: Callable[[Any], Any]) -> Callable[[str], Pages]:
    """``pages("lead")``: path and HTML of every page of the access matrix that the person may open.

    The report of a decision is left out: it is a file on its own, to send to others.
    """

    def opened(person: str) -> Pages:
        client = client_of(request.getfixturevalue(person) if person != "anonymous" else None)
        for line in LINES:
            if line.method != "GET" or line.route.startswith(("api/", "admin/", "help-files/")):
                continue
            if line.expected[WHO.index(person)] != 200:
                continue
            path = address(line.route, world)
            response = client.get(path)
            if response.streaming:
                b"".join(response.streaming_content)  # closes the file
            elif not line.route.endswith("/report/") and response.headers["Content-Type"].startswith("text/html"):
                html = response.content.decode()
                assert not re.search("&lt;(span|div|td|a) class=", html), f"{path} shows its own markup"
                yield path, html

    return opened


@pytest.mark.slow
@pytest.mark.parametrize("person", PEOPLE)
def test_every_page_has_a_help_link_to_an_existing_part_of_the_docs(pages: Callable[[str], Pages], person: str) -> None:
    wrong, opened = [], 0
    for path, html in pages(person):
        opened += 1
        links = Links(html).help
        wrong += [path] if not links else []
        wrong += [f"{path}: {link}" for link in links if not exists(link)]
    assert opened >= 4
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("person", ["rater", "engineer", "lead"])
def test_no_page_links_to_a_page_that_the_person_may_not_open(
    pages: Callable[[str], Pages], world: World, person: str
) -> None:
    place = WHO.index(person)
    refused = {address(line.route, world) for line in LINES if line.method == "GET" and line.expected[place] == 403}
    wrong = {
        f"{path}: {link}"
        for path, html in pages(person)
        for link in re.findall(r'href="(/[^"?#]*)', html)
        if link in refused
    }
    assert wrong == set()


def exists(link: str) -> bool:
    """Whether the help page is there, with the anchor of the link."""
    path, _, anchor = link.partition("#")
    name = resolve(path).kwargs.get("name", docs.FALLBACK)
    return not anchor or anchor in docs.page_of(name).anchors


@pytest.mark.slow
@pytest.mark.parametrize("person", ["rater", "lead"])
def test_every_page_below_a_collection_has_breadcrumbs_that_open(
    pages: Callable[[str], Pages],
    request: pytest.FixtureRequest,
    client_of: Callable[[Any], Any],
    world: World,
    person: str,
) -> None:
    client = client_of(request.getfixturevalue(person))
    wrong, seen = [], set()
    for path, html in pages(person):
        links = Links(html)
        below = html.count('class="way"') and path != f"/c/{world.collection.slug}/"
        if below and not links.crumbs:
            wrong.append(f"{path}: none")
        names = [name for _, name in links.crumbs]
        if len(set(names)) < len(names) or " ".join(links.heading.split()) in names:
            wrong.append(f"{path}: {names} above {links.heading}")
        seen |= {href for href, _ in links.crumbs}
    assert wrong == []
    assert len(seen) > (15 if person == "lead" else 0)
    assert [href for href in sorted(seen) if client.get(href).status_code != 200] == []


@pytest.mark.slow
def test_a_round_has_at_most_five_tabs(pages: Callable[[str], Pages]) -> None:
    numbers = {}
    for path, html in pages("lead"):
        tabs = re.search(r'<nav class="tabs".*?</nav>', html, re.DOTALL)
        if tabs and path.startswith("/rounds/"):
            outside = re.sub(r'<div class="menu__panel">.*?</div>', "", tabs[0], flags=re.DOTALL)
            numbers[path] = len(re.findall(r"<a |<summary", outside))
    assert len(numbers) > 10
    assert {path: number for path, number in numbers.items() if number > 5} == {}


def test_every_page_of_the_navigation_has_a_route() -> None:
    assert [route for route in PAGES if arguments(route) is None] == []
    assert [route for route, page in PAGES.items() if page.parent and page.parent not in PAGES] == []


@pytest.mark.slow
def test_the_menu_offers_each_role_only_pages_that_it_may_open(
    world: World, client_of: Callable[[Any], Any], lead: Any, engineer: Any, rater: Any
) -> None:
    wrong = []
    for role, user in (("lead", lead), ("engineer", engineer), ("rater", rater)):
        client = client_of(user)
        for route, page in PAGES.items():
            if arguments(route) == ("slug",) and page.roles:
                status = client.get(page_address(route, {"slug": world.collection.slug})).status_code
                if (status == 403) == (role in page.roles):
                    wrong.append((route, role, status))
    assert wrong == []


def test_the_menu_shows_documents_and_guidelines(world: World, client_of: Callable[[Any], Any], engineer: Any) -> None:
    html = client_of(engineer).get(f"/c/{world.collection.slug}/").content.decode()
    menu = re.search(r'<nav class="way__more".*?</nav>', html, re.DOTALL)
    assert menu
    for page in ("documents", "guidelines", "members"):
        assert f'href="/c/{world.collection.slug}/{page}/"' in menu[0]
    assert f'href="/c/{world.collection.slug}/settings/"' not in menu[0]
