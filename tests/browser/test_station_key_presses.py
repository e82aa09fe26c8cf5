"""Tests of key presses before a document is shown or while a page unloads."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser.station import READS, button, chosen, list_of, mine, press, query_of, ready, rows, stand_still

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# A disk that is busy with something else: what this browser keeps is told once the test lets it.
LATE = """const open = IDBFactory.prototype.open;
IDBFactory.prototype.open = function (...told) {
    const asked = open.apply(this, told);
    const opened = new Promise((done) => { asked.onsuccess = done; });
    const wait = (work) => () => { window.letGo ? work() : (window.held ??= []).push(work); };
    return Object.defineProperties({}, {
        onsuccess: { set: (work) => { opened.then(wait(work)); } },
        result: { get: () => asked.result },
        onupgradeneeded: { set: (work) => { asked.onupgradeneeded = work; } },
    });
};"""


def test_a_press_too_many_grades_nothing_of_the_next_query(page, listed, enter, open_round, rater):
    enter(rater)
    page.add_init_script(READS)
    listed(page, open_round)
    for _ in range(6):
        press(page, "2")
    page.wait_for_function("() => window.read === 1")
    first = query_of(page)
    page.evaluate(
        """async () => { document.querySelector("#go-on").click();
        dispatchEvent(new KeyboardEvent("keydown", { key: "2", code: "Digit2" })); }"""
    )
    expect(page.locator(".ask__query")).not_to_have_text(first)
    press(page, "3")
    assert list(mine(rater).order_by("pk").values_list("grade", flat=True)) == [2] * 6 + [3]


def test_a_press_too_many_changes_no_grade_of_this_query(page, listed, enter, open_round, rater):
    enter(rater)
    listed(page, open_round)
    for _ in range(6):
        press(page, "2")
    expect(page.locator("#go-on")).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator("#live")).to_contain_text("Every document is graded")
    assert [chosen(row) for row in rows(page).all()] == ["2"] * 6
    # Whoever goes back to a row changes it.
    page.keyboard.press("k")
    press(page, "1")
    assert sorted(mine(rater).values_list("grade", flat=True)) == [1, 2, 2, 2, 2, 2]


def test_a_key_on_the_way_to_the_next_query_grades_nothing(page, listed, enter, open_round, rater):
    enter(rater)
    listed(page, open_round)
    held: list[Any] = []

    def hold(route: Any) -> None:
        """Nothing lies ready, and whether there is a line is answered late."""
        if route.request.resource_type != "fetch":
            route.continue_()
        elif route.request.method == "GET":
            route.abort()
        else:
            held.append(route)

    page.route("**/rate/**", hold)
    for _ in range(6):
        press(page, "2")
    with page.expect_request(lambda request: request.method == "HEAD"):
        page.keyboard.press("Enter")
    for key in ("k", "3"):
        page.keyboard.press(key)
    button(rows(page).first, "0").click(force=True)
    with page.expect_navigation():
        held.pop().continue_()
    ready(page)
    assert list(mine(rater).values_list("grade", flat=True)) == [2] * 6
    # Where there is no line, one is back among the rows.
    page.unroute("**/rate/**")
    page.route("**/rate/**", lambda route: route.abort() if route.request.method == "HEAD" else route.continue_())
    press(page, "1")
    page.locator("#go-on").click()
    expect(page.locator("#toast")).to_contain_text("No connection")
    press(page, "0")
    assert sorted(mine(rater).filter(state="graded").values_list("grade", flat=True)) == [0, 1, *[2] * 6]


def test_no_row_is_graded_before_the_list_knows_what_was_answered(page, live_server, enter, open_round, rater):
    enter(rater)
    page.add_init_script(LATE)
    stand_still(page)
    page.goto(live_server.url + list_of(open_round))
    page.clock.run_for(1000)
    page.keyboard.press("3")
    page.wait_for_function("() => window.held")
    page.evaluate("window.letGo = true; for (const work of window.held) work();")
    expect(rows(page).first.locator("input[value='0']")).to_be_focused()
    press(page, "2")
    assert list(mine(rater).values_list("grade", flat=True)) == [2]
    assert chosen(rows(page).first) == "2"


def test_continuing_at_once_grades_nothing(page, live_server, enter, open_round, rater):
    enter(rater)
    stand_still(page)
    page.goto(live_server.url + list_of(open_round))
    held: list[Any] = []
    page.route("**/rate/", lambda route: held.append(route) if route.request.method == "HEAD" else route.continue_())
    with page.expect_request(lambda request: request.method == "HEAD"):
        page.locator("#go-on").click()
    page.clock.run_for(1000)
    page.keyboard.press("3")
    with page.expect_navigation():
        held.pop().continue_()
    assert set(mine(rater).values_list("state", flat=True)) == {"later"}


@pytest.mark.parametrize("mode", ["one", "list"])
def test_a_key_on_the_way_to_the_last_answers_grades_nothing(page, live_server, enter, open_round, rater, mode):
    enter(rater)
    page.goto(f"{live_server.url}{reverse('rate', args=[open_round.uuid])}?mode={mode}")
    press(page, "2")
    ready(page)
    held: list[Any] = []
    page.route("**/rate/last/", lambda route: held.append(route))
    with page.expect_request("**/rate/last/"):
        page.keyboard.press("r")
    page.keyboard.press("1")
    held.pop().continue_()
    expect(page.locator(".answers > li")).to_have_count(1)
    assert mine(rater).get().grade == 2
