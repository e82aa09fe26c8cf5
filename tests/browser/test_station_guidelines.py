"""Tests of the guidelines next to the document in a wide window."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.station import ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def in_view(page: Page, selector: str) -> bool:
    return page.locator(selector).evaluate(
        """(one) => { const box = one.getBoundingClientRect();
        return box.width > 0 && box.top >= 0 && box.left >= 0 && box.right <= innerWidth && box.top < innerHeight; }"""
    )


@pytest.mark.parametrize("mode", ["one", "list"])
def test_query_need_and_guidelines_are_in_view_together(page, go, enter, open_round, rater, mode: Any):
    enter(rater)
    page.set_viewport_size({"width": 1600, "height": 900})
    go("rate", open_round)
    page.goto(f"{page.url}?mode={mode}")
    ready(page)
    beside, over = page.locator("#pinned"), page.locator("#guide")
    expect(beside.get_by_role("heading", name="Grade what helps")).to_be_visible()
    parts = (".ask__query", ".ask__need", "#pinned", "#doc", ".give")
    assert [part for part in parts if not in_view(page, part)] == []
    assert page.evaluate("document.documentElement.scrollWidth") == 1600
    assert violations(page) == []
    page.keyboard.press("g")
    expect(beside).to_be_hidden()
    expect(over).to_be_hidden()
    page.reload()
    ready(page)
    expect(beside).to_be_hidden()
    page.keyboard.press("g")
    expect(beside).to_be_visible()
    beside.get_by_role("button", name="Hide").click()
    expect(beside).to_be_hidden()
    # A narrow window has no room beside the document.
    page.set_viewport_size({"width": 1280, "height": 900})
    page.keyboard.press("g")
    expect(over).to_be_visible()
