"""Tests of every page for every role: accessibility, browser errors and overflow.

Every address of the access matrix that answers with a page is opened, full and empty, and looked at wide and light,
then narrow and dark. It is opened once: to answer, to load it and to put axe into it takes longer than to look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from playwright.sync_api import Error, Page

from judgments.members.collections import create_collection
from tests.browser.axe import SCRIPT, violations
from tests.test_access_matrix import LINES, address
from tests.world import World

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# The order in which the matrix names people, and how each looks at the pages.
ANONYMOUS = 4
Scheme = Literal["light", "dark"]
VIEWS: tuple[tuple[int, Scheme], ...] = ((1280, "light"), (390, "dark"))
# Texts of controls that are too small to hit.
SMALL = """() => [...document.querySelectorAll("button, summary, select, .btn")].filter((control) => {
  const { width, height } = control.getBoundingClientRect()
  return control.checkVisibility() && Math.min(width, height) < 24
}).map((control) => control.textContent.trim())"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(autouse=True)
def _links(settings: Any) -> None:
    settings.INVITE_LINKS = True


@pytest.fixture
def wrong_with(page: Page, live_server: Any, faults: list[str]) -> Callable[[str], list[str]]:
    """What is wrong with the page at this path, in one view after the other; a download is no page."""

    page.add_init_script(SCRIPT)

    def look(path: str) -> list[str]:
        faults.clear()
        show(page, *VIEWS[0])
        try:
            answer = page.goto(live_server.url + path)
        except Error as error:
            if "Download is starting" in error.message:
                return []
            raise
        if answer is None or "text/html" not in answer.headers.get("content-type", ""):
            return []
        down = page.evaluate("scrollY")
        problems = [f"{path}: opens {down} px below its top"] if down else []
        problems += [
            f"{path} ({width} px, {scheme}): {fault}" for width, scheme in VIEWS for fault in seen(width, scheme)
        ]
        return [*problems, *(f"{path}: {fault}" for fault in faults)]

    def seen(width: int, scheme: Scheme) -> list[str]:
        show(page, width, scheme)
        over = page.evaluate(OVERFLOW)
        small = [f"smaller than 24 px: {name}" for name in page.evaluate(SMALL)]
        return [*violations(page), *small, *([f"{over} px too wide"] if over > 0 else [])]

    return look


def show(page: Page, width: int, scheme: Scheme) -> None:
    """In this width and these colours, without any colour on its way to another one."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def paths(world: World, place: int) -> list[str]:
    """The addresses of pages that are answered with 200 to the person at this place in the matrix.

    Files of the docs are left out: with a picture alone, the browser asks for an icon that is not there.
    """
    elsewhere = ("api/", "admin/", "help-files/")
    lines = [line for line in LINES if line.method == "GET" and not line.route.startswith(elsewhere)]
    return [address(line.route, world) for line in lines if line.expected[place] == 200]


@pytest.mark.parametrize(("place", "person"), [(3, "lead"), (1, "rater"), (ANONYMOUS, None)])
def test_every_page_is_sound(
    request: pytest.FixtureRequest,
    world: World,
    enter: Callable[[Any], None],
    wrong_with: Callable[[str], list[str]],
    place: int,
    person: str | None,
) -> None:
    enter(request.getfixturevalue(person) if person else None)
    problems = [fault for path in paths(world, place) for fault in wrong_with(path)]
    assert problems == []


def test_every_page_of_an_empty_collection_is_sound(
    world: World, lead: Any, enter: Callable[[Any], None], wrong_with: Callable[[str], list[str]]
) -> None:
    create_collection(actor=lead, slug="empty", name="Nothing yet")
    enter(lead)
    slug = f"/c/{world.collection.slug}/"
    own = {path.replace(slug, "/c/empty/") for path in paths(world, 3) if path.startswith(slug)}
    bare = sorted(path for path in own if path.count("-") < 4)  # no things of the other collection
    assert len(bare) > 15
    assert [fault for path in bare for fault in wrong_with(path)] == []


def test_the_error_pages_are_sound(
    page: Page, world: World, rater: Any, live_server: Any, enter: Callable[[Any], None]
) -> None:
    enter(rater)
    for path, status in (("/nowhere/", 404), (f"/c/{world.collection.slug}/", 403)):
        answer = page.goto(live_server.url + path)
        assert answer is not None
        assert answer.status == status
        assert violations(page) == []
