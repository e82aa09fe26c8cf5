"""Tests of the command palette, the switcher of collections, the tabs of a round and the pages on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from judgments.members.collections import create_collection
from judgments.models import Query
from tests.browser.axe import violations
from tests.world import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PHONE = {"width": 390, "height": 844}


def open_palette(page: Page) -> Any:
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search pages")
    expect(field).to_be_focused()
    return field


def test_the_palette_finds_a_query_by_keyboard(
    page: Page, live_server: Any, enter: Callable[[Any], None], faults: list[str], collection: Any, lead: Any
) -> None:
    for number, text in enumerate(("rain jacket", "rain boots")):
        Query.objects.create(collection=collection, query_id=f"r{number}", text=text)
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/documents/")
    field = open_palette(page)
    field.fill("rain")
    options = page.get_by_role("option")
    expect(options).to_have_count(2)
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == options.nth(1).get_attribute("id")
    page.keyboard.press("ArrowDown")
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    wanted = options.nth(0).get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}{wanted}")
    assert faults == []


def test_the_palette_closes_with_escape_and_says_when_nothing_matches(
    page: Page, live_server: Any, enter: Callable[[Any], None], collection: Any, lead: Any
) -> None:
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/documents/")
    button = page.get_by_role("button", name="Search")
    button.click()
    palette = page.locator("#palette")
    expect(palette.get_by_role("option").first).to_be_visible()
    page.get_by_role("combobox", name="Search pages").fill("zebra crossing")
    expect(palette.get_by_role("option")).to_have_count(0)
    expect(palette.get_by_role("status")).not_to_be_empty()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    expect(button).to_be_focused()


def test_the_palette_says_when_the_search_fails(
    page: Page, live_server: Any, enter: Callable[[Any], None], collection: Any, lead: Any
) -> None:
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/documents/")
    page.context.set_offline(True)
    open_palette(page)
    expect(page.locator("#palette").get_by_role("status")).to_contain_text("Try again")


def test_the_switcher_opens_another_collection(
    page: Page, live_server: Any, enter: Callable[[Any], None], faults: list[str], collection: Any, lead: Any
) -> None:
    for number in range(9):
        create_collection(actor=lead, slug=f"more-{number}", name=f"More {number}")
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/documents/")
    page.locator(".top__where > summary").click()
    menu = page.get_by_role("navigation", name="Collections")
    expect(menu.get_by_role("link")).to_have_count(10)
    expect(menu.get_by_role("link").first).to_have_text("More 8")
    page.get_by_label("Find collection").fill("more 3")
    expect(menu.get_by_role("link")).to_have_count(1)
    assert violations(page) == []
    menu.get_by_role("link", name="More 3").click()
    page.wait_for_url(f"{live_server.url}/c/more-3/")
    assert faults == []


def test_a_round_has_five_tabs_that_fit_a_phone(
    page: Page, live_server: Any, enter: Callable[[Any], None], world: World, lead: Any
) -> None:
    enter(lead)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto(f"{live_server.url}/rounds/{world.closed.uuid}/progress/")
    tabs = page.locator(".tabs > a, .tabs > details > summary")
    expect(tabs).to_have_count(5)
    for tab in tabs.all():
        box = tab.bounding_box()
        assert box
        assert 0 <= box["x"] <= box["x"] + box["width"] <= PHONE["width"]
    page.locator(".tabs > details > summary").click()
    assert violations(page) == []
    page.locator(".tabs").get_by_role("link", name="Gold pairs").click()
    page.wait_for_url("**/calibration/")


def test_settings_are_reached_from_the_menu_on_a_phone(
    page: Page, live_server: Any, enter: Callable[[Any], None], collection: Any, lead: Any
) -> None:
    enter(lead)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto(f"{live_server.url}/c/{collection.slug}/documents/")
    page.locator(".way__more summary").click()
    assert violations(page) == []
    page.locator(".way__more").get_by_role("link", name="Settings").click()
    page.wait_for_url(f"{live_server.url}/c/{collection.slug}/settings/")


def test_wide_tables_show_that_they_scroll(
    page: Page, live_server: Any, enter: Callable[[Any], None], world: World, lead: Any
) -> None:
    enter(lead)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto(f"{live_server.url}/c/{world.collection.slug}/documents/")
    box = page.locator(".scroll").first
    expect(box).to_have_attribute("data-more", "end")
    box.evaluate("box => box.scrollLeft = box.scrollWidth")
    expect(box).to_have_attribute("data-more", "start")
    page.set_viewport_size({"width": 1600, "height": 900})
    expect(box).to_have_attribute("data-more", "")


def test_a_confirmation_covers_nothing_and_can_be_closed(
    page: Page, live_server: Any, enter: Callable[[Any], None], collection: Any, lead: Any
) -> None:
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/settings/")
    page.get_by_label("Name", exact=True).fill("New name")
    page.get_by_role("button", name="Save settings").click()
    note = page.locator(".note--done")
    expect(note).to_be_visible()
    assert note.evaluate("note => getComputedStyle(note).position") == "static"
    note.get_by_role("button", name="Close").click()
    expect(note).to_have_count(0)


def test_without_scripts_the_search_is_a_page(
    browser: Browser, page: Page, live_server: Any, enter: Callable[[Any], None], collection: Any, lead: Any
) -> None:
    Query.objects.create(collection=collection, query_id="r0", text="rain jacket")
    enter(lead)
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(page.context.cookies(live_server.url))  # type: ignore[arg-type]
    bare = plain.new_page()
    bare.goto(f"{live_server.url}/c/{collection.slug}/documents/")
    bare.get_by_role("link", name="Search").click()
    bare.get_by_label("Page, query, document, run or round").fill("rain")
    bare.get_by_role("button", name="Search").click()
    bare.get_by_role("link", name="rain jacket").click()
    expect(bare.get_by_role("heading", level=1)).to_have_text("rain jacket")
    plain.close()
