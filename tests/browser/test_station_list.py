"""Tests of the list view: two tabs, touch, reasons and notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from judgments.models import Judgment
from tests.browser.axe import violations
from tests.browser.station import (
    READS,
    button,
    chosen,
    hold_time,
    make_round,
    mine,
    press,
    query_of,
    ready,
    rows,
    title,
    wait_until_submitted,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def phone(browser: Any, live_server: Any, client_of: Callable[[Any], Any], rater: Any) -> Any:
    """A page of a phone on which the rater is logged in."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    cookie = client_of(rater).cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    yield context.new_page()
    context.close()


def go_on(page: Page) -> None:
    with page.expect_navigation():
        page.locator("#go-on").click()


def test_next_query_in_a_stale_tab_takes_no_grade_back(page, context, listed, enter, open_round, rater):
    enter(rater)
    other = listed(context.new_page(), open_round)
    listed(page, open_round)
    press(page, "2")
    expect(other.locator("[data-graded]")).to_have_text("1")
    assert chosen(rows(other).first) == "2"
    press(page, "3")
    expect(other.locator("[data-graded]")).to_have_text("2")
    press(page, "z")
    expect(other.locator("[data-graded]")).to_have_text("1")
    go_on(other)
    answers = mine(rater).filter(pair__query=Judgment.objects.earliest("pk").pair.query)
    assert sorted(answers.values_list("state", "grade")) == [("graded", 2), *[("later", None)] * 5]


def test_an_outdated_list_reverts_no_grade(page, context, listed, station, enter, open_round, rater):
    enter(rater)
    deaf = context.new_page()
    deaf.add_init_script("delete window.BroadcastChannel")
    listed(deaf, open_round)
    listed(page, open_round)
    press(page, "2")
    graded = mine(rater).get()
    assert chosen(rows(deaf).first) == ""
    go_on(deaf)
    assert mine(rater).filter(state="graded").get() == graded
    assert mine(rater).filter(state="later").count() == 5


def test_the_other_way_of_rating_tells_the_list(page, context, listed, station, enter, open_round, rater):
    enter(rater)
    station(page, open_round, "?mode=one")
    other = listed(context.new_page(), open_round)
    name = title(page)
    press(page, "1")
    row = rows(other).filter(has=other.get_by_role("heading", name=name))
    expect(row.locator("input[value='1']")).to_be_checked()
    press(page, "z")
    expect(row.locator("input[value='1']")).not_to_be_checked()


def test_a_reason_and_a_note_outlive_each_other_and_a_reload(page, listed, enter, open_round, rater):
    enter(rater)
    listed(page, open_round)
    page.keyboard.press("u")
    press(page, "3")
    page.keyboard.press("k")
    note(page, "In Dutch.")
    expect(rows(page).first.locator("input[value='unable']")).to_be_checked()
    listed(page, open_round)
    page.keyboard.press("k")
    note(page, "In Dutch, I think.")
    answers = Judgment.objects.filter(rater=rater).order_by("pk").values_list("state", "reason", "note")
    assert list(answers) == [
        ("unrateable", "language", ""),
        ("unrateable", "language", "In Dutch."),
        ("unrateable", "language", "In Dutch, I think."),
    ]


def note(page: Page, text: str) -> None:
    page.keyboard.press("n")
    page.get_by_label("What should the lead know?").fill(text)
    with wait_until_submitted(page):
        page.keyboard.press("Escape")


def test_a_phone_asks_for_the_reason_of_an_unrateable_row(phone, listed, open_round, rater):
    page = listed(phone, open_round)
    small = """[...document.querySelectorAll('.give button, .ask a, .ask button, .pick label')]
        .filter((one) => one.checkVisibility()).map((one) => [one.textContent.trim(), one.getBoundingClientRect()])
        .filter(([, box]) => box.height < 44 || box.width < 44).map(([name]) => name)"""
    assert page.evaluate(small) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page) == []
    row, box = rows(page).nth(1), page.locator("#unable-box")
    with wait_until_submitted(page):
        button(row, "2").tap()
    # Without a reason what was said before stands.
    button(row, "unable").tap()
    expect(box).to_be_visible()
    assert violations(page) == []
    box.get_by_role("button", name="Back to grades").tap()
    expect(box).to_be_hidden()
    expect(row.locator("input[value='2']")).to_be_checked()
    assert mine(rater).get().grade == 2
    # So it does where somebody goes on elsewhere instead.
    button(rows(page).nth(2), "unable").tap()
    page.locator(".ask__query").tap()
    expect(rows(page).nth(2).locator("input[value='unable']")).not_to_be_checked()
    button(row, "unable").tap()
    with wait_until_submitted(page):
        box.get_by_role("button", name="Document broken").tap()
    judgment = mine(rater).get()
    assert (judgment.state, judgment.reason, judgment.how["by"]) == ("unrateable", "document broken", "touch")
    # Once more on the same sign asks for another reason.
    button(row, "unable").tap()
    with wait_until_submitted(page):
        box.get_by_role("button", name="Language").tap()
    assert mine(rater).get().reason == "language"
    assert Judgment.objects.count() == 3


def test_arrows_to_cannot_judge_ask_why(page, listed, enter, open_round, rater):
    enter(rater)
    page.clock.install()
    listed(page, open_round)
    hold_time(page)
    rows(page).first.locator("input[value='0']").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        page.clock.run_for(500)
    expect(page.locator("#unable-box")).to_be_hidden()
    page.clock.run_for(500)
    expect(page.locator("#unable-box")).to_be_visible()
    assert mine(rater).count() == 0
    press(page, "1")
    assert mine(rater).get().reason == "query unclear"


def test_a_digit_that_waits_for_another_is_shown(page, listed, enter, collection, lead, rater):
    grades = [(value, f"Grade {value}", "") for value in (0, 1, 2, 10, 12)]
    enter(rater)
    page.clock.install()
    listed(page, make_round(collection, lead, [rater], grades=grades, ratings_per_pair=1))
    hold_time(page)
    page.keyboard.press("1")
    expect(rows(page).first.locator("kbd.typed")).to_have_text("1 …")
    press(page, "2")
    expect(page.locator("kbd.typed")).to_have_count(0)
    assert mine(rater).get().grade == 12


def test_the_next_query_is_loaded_when_the_last_row_is_graded(page, context, listed, enter, open_round, rater):
    enter(rater)
    page.add_init_script(READS)
    listed(page, open_round)
    first = query_of(page)
    page.evaluate("window.sameDocument = true")
    for _ in range(6):
        press(page, "2")
    page.wait_for_function("() => window.read === 1")
    # A grade that is changed once more is not what lies ready: it is fetched anew.
    page.keyboard.press("k")
    press(page, "1")
    page.wait_for_function("() => window.read === 2")
    expect(page.get_by_role("button", name="Next query", exact=True)).to_be_focused()
    context.set_offline(True)
    page.keyboard.press("Enter")
    expect(page.locator(".ask__query")).not_to_have_text(first)
    second = query_of(page)
    expect(page.locator("#live")).to_contain_text(f"New query: {second}")
    expect(page.locator("[data-graded]")).to_have_text("0")
    expect(rows(page).first.locator("input[value='0']")).to_be_focused()
    assert page.evaluate("window.sameDocument") is True
    assert violations(page) == []
    ready(page)
    page.keyboard.press("3")
    expect(page.locator("#stored")).to_contain_text("1 unsent: no connection")
    context.set_offline(False)
    expect(page.locator("#stored")).to_be_hidden()
    press(page, "0")
    assert mine(rater).count() == 8
    assert list(mine(rater).filter(pair__query__text=second).order_by("pk").values_list("grade", flat=True)) == [3, 0]
    assert sorted(mine(rater).filter(pair__query__text=first).values_list("grade", flat=True)) == [1, 2, 2, 2, 2, 2]
    # What was given in the query before can still be taken back, and is shown then.
    page.keyboard.press("z")
    page.keyboard.press("z")
    expect(page.locator("[data-graded]")).to_have_text("0")
    with page.expect_navigation():
        page.keyboard.press("z")
    ready(page)
    assert query_of(page) == first
    assert mine(rater).count() == 5
