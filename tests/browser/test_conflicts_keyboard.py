"""Tests of conflicts by keyboard: key presses per conflict, reasons, undo, and a connection that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from judgments.agreement import resolutions
from judgments.models import Adjudication, Round
from tests.browser.axe import violations
from tests.browser.station import make_round, quick, rate_all, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def conflicts_of(collection: Any, lead: Any, rater: Any, rater2: Any) -> Callable[..., Round]:
    """``conflicts_of(n)``: a round with so many conflicts of each of two queries."""

    def make(documents: int) -> Round:
        round_ = make_round(collection, lead, [rater, rater2], documents=documents)
        rate_all(round_, rater, lambda pair: 1)
        rate_all(round_, rater2, lambda pair: 2)
        return round_

    return make


@pytest.fixture
def opened(page: Page, live_server: Any, enter: Any, lead: Any) -> Callable[[Round], Page]:
    def go(round_: Round) -> Page:
        enter(lead)
        page.goto(live_server.url + reverse("conflicts_keyboard", args=[round_.uuid]))
        ready(page)
        return page

    return go


def grades(page: Page, round_: Round, number: int) -> list[int | None]:
    """The resolutions that the server has once it has so many."""
    rows = Adjudication.objects.current().filter(pair__round=round_)
    while rows.count() < number:
        page.wait_for_timeout(20)
    return list(rows.order_by("pair__position").values_list("grade", flat=True))


def test_fifty_conflicts_with_at_most_seventy_keys(
    opened: Any, conflicts_of: Any, lead: Any, faults: list[str]
) -> None:
    round_ = conflicts_of(25)
    page = opened(round_)
    pressed = 0

    def press(key: str) -> None:
        nonlocal pressed
        pressed += 1
        page.keyboard.press(key)

    press("r")
    press("2")
    for place in range(50):
        ready(page)
        if place == 25:  # another reason for the rest
            press("r")
            press("3")
            ready(page)
        press("1" if place % 2 else "2")
    expect(page.locator("#shown h2")).to_have_text("No open conflicts are left")
    assert pressed <= 70
    assert grades(page, round_, 50) == [2, 1] * 25
    rows = Adjudication.objects.filter(resolved_by=lead)
    assert {row.reason for row in rows} == {"A rater made a mistake", "The query is ambiguous"}
    assert rows.count() == 50
    assert faults == []


def test_a_grade_without_a_reason_asks_for_it_and_then_resolves(opened: Any, conflicts_of: Any) -> None:
    round_ = conflicts_of(2)
    page = opened(round_)
    first = page.locator("#shown h2").first.inner_text()
    page.keyboard.press("2")
    expect(page.locator("#reason-box")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("0")  # no reason yet: asks again, and nothing was resolved
    page.keyboard.press("0")  # own words
    page.keyboard.type("2 of 3 seams.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toast")).to_contain_text("Resolved as 0")
    expect(page.locator("#shown h2").first).not_to_have_text(first)
    quick(page, "1")
    # A page that is loaded while a resolution arrives may still show its conflict.
    assert grades(page, round_, 2) == [0, 1]
    page.reload()
    expect(page.locator("#reason-now")).to_have_text("2 of 3 seams.")
    expect(page.locator(".ask__where")).to_contain_text("3 of 4")
    assert violations(page) == []


def test_undo_and_skip(opened: Any, conflicts_of: Any) -> None:
    round_ = conflicts_of(2)
    page = opened(round_)
    title = page.locator("#shown h2").first
    names = [title.inner_text()]
    quick(page, "n")
    expect(title).not_to_have_text(names[0])
    page.keyboard.press("r")
    page.keyboard.press("1")
    quick(page, "121")
    expect(title).to_have_text("1 skipped conflict left")
    page.keyboard.press("Enter")
    expect(title).to_have_text(names[0])
    quick(page, "u2")
    quick(page, "2")
    expect(title).to_have_text("No open conflicts are left")
    assert grades(page, round_, 4) == [2, 1, 2, 2]
    page.reload()
    page.wait_for_url("**/conflicts/")


def test_nothing_is_lost_or_resolved_twice_on_a_bad_line(
    opened: Any, conflicts_of: Any, make_user: Any, page: Page
) -> None:
    round_ = conflicts_of(3)
    opened(round_)
    page.keyboard.press("r")
    page.keyboard.press("1")
    sent: list[str] = []

    def lose(route: Any) -> None:
        """The server takes it, but its answer is lost; the next ones never arrive."""
        sent.append(route.request.post_data)
        if len(sent) == 1:
            route.fetch()
        route.abort()

    page.route("**/resolutions/", lose)
    quick(page, "12")
    expect(page.locator("#stored")).to_contain_text("unsent")
    other = round_.pairs.get(position=2)
    resolutions.resolve(other, grade=3, actor=make_user("lars"), reason="I was first.")
    quick(page, "0")
    page.unroute("**/resolutions/")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.locator("#stored")).to_contain_text("1 rejected")
    expect(page.locator(".ask__where")).to_contain_text("4 of 6")
    assert grades(page, round_, 3) == [1, 2, 3]
    assert Adjudication.objects.count() == 3
    # A rater's station of the same user does not send or show resolutions.
    page.get_by_role("button", name="View answers").click()
    page.get_by_role("button", name="Discard answer").click()
    expect(page.locator("#stored")).to_be_hidden()
