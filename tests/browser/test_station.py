"""Tests of the station: no lost or repeated judgments without a connection or session, or in two tabs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Page, expect

from judgments.guidelines import guidelines
from judgments.models import Document, Judgment, Membership, Pair, Query
from judgments.rounds import rounds
from tests.browser.axe import violations
from tests.browser.station import (
    hold_time,
    list_of,
    make_round,
    mine,
    press,
    query_of,
    quick,
    ready,
    stored_notice,
    title,
    wait_until_submitted,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCRIPTS = Path(__file__).parents[2] / "static" / "js"


def no_answer_was_given_twice() -> bool:
    return not Judgment.objects.filter(supersedes__isnull=False).exists()


def log_in_as(page: Page, address: str, user: Any) -> None:
    """By the form of the log-in page, as people do."""
    page.goto(address)
    page.get_by_label("User name").fill(user.username)
    page.get_by_label("Password").fill("pass")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login/" not in url)


@pytest.mark.quick
def test_no_judgment_is_lost_offline(page, context, station, enter, open_round, rater):
    enter(rater)
    station(page, open_round)
    context.set_offline(True)
    quick(page, "0123")
    expect(stored_notice(page)).to_contain_text("4 unsent: no connection")
    page.keyboard.press("z")
    expect(stored_notice(page)).to_contain_text("3 unsent")
    back = title(page)
    assert not mine(rater).exists()
    # The tab goes, the answers stay: the next one sends them, and does not ask for them again.
    page.close(run_before_unload=False)
    context.set_offline(False)
    with context.expect_event("response", lambda answer: "/judgments/" in answer.url):
        page = station(context.new_page(), open_round)
    expect(stored_notice(page)).to_be_hidden()
    assert sorted(mine(rater).values_list("grade", flat=True)) == [0, 1, 2]
    assert title(page) == back
    press(page, "2")
    assert mine(rater).count() == 4
    assert no_answer_was_given_twice()


def test_line_comes_back_by_itself_and_documents_with_it(page, context, station, enter, open_round, rater):
    enter(rater)
    station(page, open_round)
    context.set_offline(True)
    quick(page, "222222222222")
    expect(page.get_by_role("heading", name="No connection and no more documents")).to_be_visible()
    expect(stored_notice(page)).to_contain_text("12 unsent")
    context.set_offline(False)
    expect(page.get_by_role("heading", name="No pairs left for you")).to_be_visible()
    assert mine(rater).count() == 12


def test_stored_answers_wait_for_their_rater(page, context, station, enter, live_server, open_round, rater, rater2):
    enter(rater)
    station(page, open_round)
    press(page, "1")
    Session.objects.all().delete()
    quick(page, "23")
    expect(stored_notice(page)).to_contain_text("2 unsent: your session has ended")
    assert "next=/rounds/" in str(stored_notice(page).get_by_role("link", name="Log in").get_attribute("href"))
    # Somebody else logs in on the same machine: the answers are none of theirs, on the old page and on their own.
    other = context.new_page()
    log_in_as(other, f"{live_server.url}/login/", rater2)
    with page.expect_response(lambda answer: "/judgments/" in answer.url) as refused:
        page.evaluate("dispatchEvent(new Event('focus'))")
    assert refused.value.status == 401
    station(other, open_round)
    expect(stored_notice(other)).to_be_hidden()
    press(other, "0")
    assert (mine(rater2).count(), mine(rater).count()) == (1, 1)
    other.close()
    # They themselves log in again: what was kept is sent from the first page that they come to.
    context.clear_cookies()
    # One that was on its way before is still told that nobody is logged in.
    with page.expect_response(lambda answer: "/judgments/" in answer.url and answer.ok):
        log_in_as(page, f"{live_server.url}/login/", rater)
    expect(stored_notice(page)).to_be_hidden()
    assert sorted(mine(rater).values_list("grade", flat=True)) == [1, 2, 3]


def test_refused_answers_are_stored_and_shown(page, station, enter, open_round, rater, collection):
    enter(rater)
    station(page, open_round)
    press(page, "1")
    membership = Membership.objects.get(user=rater, collection=collection)
    membership.delete()
    name = title(page)
    press(page, "2")
    expect(stored_notice(page)).to_contain_text("1 rejected by the server")
    stored_notice(page).get_by_role("button", name="View answers").click()
    box = page.locator("#refused-box")
    expect(box).to_contain_text(f"Saved 2, Good. for {name} ({query_of(page)})")
    expect(box).to_contain_text("no longer a member of Shop search")
    assert violations(page) == []
    Membership.objects.create(user=rater, collection=collection, role=membership.role)
    with page.expect_response(lambda answer: "/judgments/" in answer.url):
        box.get_by_role("button", name="Send again").click()
    expect(stored_notice(page)).to_be_hidden()
    assert sorted(mine(rater).values_list("grade", flat=True)) == [1, 2]


def test_two_tabs_ask_for_nothing_twice(page, context, station, enter, open_round, rater):
    enter(rater)
    tabs = [station(page, open_round), station(context.new_page(), open_round)]
    assert title(tabs[0]) == title(tabs[1])
    for number in range(12):
        here, there = tabs[number % 2], tabs[1 - number % 2]
        press(here, str(number % 4))
        if number < 11:
            expect(there.locator("#shown h2")).to_have_text(title(here))
    expect(page.get_by_role("heading", name="No pairs left for you")).to_be_visible()
    assert mine(rater).count() == 12
    assert no_answer_was_given_twice()


# The first batch that the server sends arrives only when the test lets it.
HELD = """
const send = window.fetch;
window.fetch = async (address, options) => {
  const answer = await send(address, options);
  if (String(address).includes("/next/") && !window.batch) {
    await answer.clone().text();
    window.batch = "held";
    await new Promise((arrive) => { window.arrive = arrive; });
  }
  return answer;
};
"""


def test_a_batch_that_comes_late_brings_back_nothing_answered_in_another_tab(
    page, context, station, enter, open_round, rater
):
    enter(rater)
    page.add_init_script(HELD)
    other = context.new_page()
    station(page, open_round)
    page.wait_for_function("window.batch === 'held'")
    station(other, open_round)
    for _ in range(3):
        press(other, "2")
    upcoming = title(other)
    page.evaluate("window.arrive()")
    expect(page.locator("#shown h2")).to_have_text(upcoming)


def test_two_raters_at_once_get_each_pair_once(
    browser, live_server, station, client_of, collection, lead, rater, rater2
):
    round_ = make_round(collection, lead, [rater, rater2], documents=14, ratings_per_pair=1)
    pages = []
    for user in (rater, rater2):
        context = browser.new_context()
        cookie = client_of(user).cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
        pages.append(station(context.new_page(), round_))
    at_work = list(pages)
    while at_work:
        for page in list(at_work):
            page.wait_for_selector("html[data-ready], .empty")
            if page.locator(".empty").count():
                at_work.remove(page)
            else:
                page.keyboard.press("2")
    for page in pages:
        page.context.close()
    assert Judgment.objects.counted().count() == 28
    assert Pair.objects.filter(judgments__isnull=True).count() == 0
    assert no_answer_was_given_twice()


def test_a_phone_grades_with_a_thumb(browser, live_server, station, client_of, open_round, rater):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    cookie = client_of(rater).cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page = station(context.new_page(), open_round)
    small = """[...document.querySelectorAll('.give button, .ask a')].filter((one) => one.checkVisibility())
        .map((one) => [one.textContent.trim(), one.getBoundingClientRect()])
        .filter(([, box]) => box.height < 44 || box.width < 44).map(([name]) => name)"""
    assert page.evaluate(small) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page) == []
    first = title(page)
    swipe(page, 300, 60)
    expect(page.locator("#toast")).to_contain_text("Saved for later.")
    assert title(page) != first
    swipe(page, 100, 340)
    expect(page.locator("#toast")).to_contain_text("Undone")
    assert title(page) == first
    ready(page)
    # What was put off and taken back may still be on its way: the grade's own answer is waited for.
    with page.expect_response(lambda answer: '"grade":3' in (answer.request.post_data or "")):
        page.get_by_role("button", name="3 Perfect").tap()
    judgment = mine(rater).get()
    assert (judgment.grade, judgment.how["by"], judgment.how["width"]) == (3, "touch", "narrow")
    context.close()


def test_a_tap_right_after_a_swipe_counts(browser, live_server, station, client_of, open_round, rater):
    """A finger that leaves the glass while it moves starts a fling, and a tap that stops a fling is no click."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    cookie = client_of(rater).cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page = station(context.new_page(), open_round)
    toast = page.locator("#toast")
    for _ in range(5):
        swipe(page, 300, 60)
        expect(toast).to_contain_text("Saved for later.")
        ready(page)
        page.get_by_role("button", name="3 Perfect").tap()
        expect(toast).to_contain_text("Saved 3")
    context.close()


def swipe(page: Page, start: int, end: int) -> None:
    """One finger over the document, as the browser's own driver moves it: in 0.15 s, however busy the machine is."""
    ready(page)
    driver = page.context.new_cdp_session(page)
    began = time.time() - 0.2
    steps = (("touchStart", start), ("touchMove", (start + end) // 2), ("touchMove", end), ("touchEnd", None))
    for number, (kind, x) in enumerate(steps):
        points = [] if x is None else [{"x": x, "y": 420}]
        step = {"type": kind, "touchPoints": points, "timestamp": began + number / 20}
        driver.send("Input.dispatchTouchEvent", step)


@pytest.mark.quick
def test_list_by_keys(page, live_server, enter, open_round, rater):
    enter(rater)
    page.goto(live_server.url + list_of(open_round))
    ready(page)
    first = query_of(page)
    press(page, "2")
    press(page, "1")
    page.keyboard.press("k")
    page.keyboard.press("k")
    press(page, "3")
    assert [row.grade for row in mine(rater).order_by("pk")] == [1, 3]
    expect(page.locator("[data-graded]")).to_have_text("2")
    press(page, "z")
    expect(page.locator("[data-graded]")).to_have_text("1")
    assert mine(rater).get().how["view"] == "list"
    page.keyboard.press("u")
    press(page, "2")
    assert mine(rater).get(state="unrateable").reason == "document broken"
    assert violations(page) == []
    for _ in range(4):
        press(page, "0")
    expect(page.get_by_role("button", name="Next query", exact=True)).to_be_focused()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert query_of(page) != first
    assert mine(rater).count() == 6


def test_keys_of_other_keyboards_and_of_ones_own(page, live_server, station, enter, collection, lead, rater, rater2):
    grades = [(value, f"Grade {value}", "") for value in (0, 1, 2, 10, 12)]
    round_ = make_round(collection, lead, [rater, rater2], grades=grades)
    page.clock.install()
    enter(rater)
    page.goto(live_server.url + reverse("station_keys"))
    page.get_by_label("Later: show the pair again at the end").fill("n")
    page.get_by_role("button", name="Save shortcuts").click()
    expect(page.get_by_text("“n” is already the key for “write a note”")).to_be_visible()
    assert violations(page) == []
    page.get_by_label("Later: show the pair again at the end").fill("s")
    page.get_by_label("Grade 2", exact=True).fill("d")
    page.get_by_role("button", name="Save shortcuts").click()
    expect(page.get_by_text("Shortcuts saved.")).to_be_visible()
    station(page, round_)
    press(page, "s")
    assert mine(rater).get().state == "later"
    press(page, "d")
    # French keyboard, top row: the key of the digit 2 types an accent.
    ready(page)
    with wait_until_submitted(page):
        page.dispatch_event("body", "keydown", {"key": "é", "code": "Digit2", "bubbles": True})
    # A scale with grades of two digits: 1 waits for a second digit, or for Enter.
    ready(page)
    hold_time(page)
    page.keyboard.press("1")
    press(page, "2")
    page.clock.run_for(300)
    ready(page)
    page.keyboard.press("1")
    press(page, "Enter")
    stored_grades = mine(rater).filter(state="graded").order_by("pk").values_list("grade", flat=True)
    assert list(stored_grades) == [2, 2, 12, 1]


def test_long_texts_other_scripts_and_a_rest(page, station, enter, open_round, rater):
    long = "".join(f"<p>Paragraph {number} says nothing of it at all.</p>" for number in range(200))
    Document.objects.update(text=f"{long}<p>A jacket for the rain, and a tent.</p>{long}")
    Query.objects.filter(query_id="q1").update(text="معطف مطر", narrative="سترة للمطر")
    enter(rater)
    station(page, open_round)
    heading = page.locator(".ask__query")
    assert heading.evaluate("(one) => getComputedStyle(one).direction") == "rtl"
    press(page, "1")
    text = page.locator(".doc__whole .doc__text")
    expect(text).to_be_hidden()
    page.keyboard.press("f")
    expect(text).to_contain_text("Paragraph 199 says nothing")
    expect(page.locator(".doc__excerpt")).to_be_hidden()
    page.evaluate("sessionStorage.setItem('assay-sitting', '49')")
    press(page, "1")
    assert [row.how["text"] for row in mine(rater).order_by("pk")] == ["excerpt", "whole"]
    expect(page.locator("#rest")).to_contain_text("50 answers in this session.")
    assert violations(page) == []
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#rest")).to_be_hidden()
    press(page, "2")


def test_changed_guidelines_are_read_once(page, live_server, station, enter, open_round, collection, lead, rater):
    open_round.raters.update(guidelines_read_at=open_round.opened_at)
    pairs = [rounds.Candidate(pair.query, pair.document, {}) for pair in open_round.pairs.all()]
    version = guidelines.add_version(collection, markdown="# Grade what truly helps", actor=lead)
    made = rounds.create_round(
        collection, name="Next", candidates=pairs, provenance={}, guidelines=version, actor=lead, raters=[rater]
    )
    enter(rater)
    station(page, rounds.open_round(made, actor=lead))
    expect(page.get_by_role("heading", name="version 2 replaces version 1")).to_be_visible()
    assert violations(page) == []
    with page.expect_response(lambda answer: answer.request.method == "POST" and answer.url.endswith("/rate/")):
        page.get_by_role("button", name="I have read the changes").click()
    expect(page.locator("#news")).to_have_count(0)
    press(page, "2")
    page.reload()
    ready(page)
    expect(page.locator("#news")).to_have_count(0)


@pytest.mark.quick
def test_no_script_of_the_station_asks_for_the_day_or_the_hour():
    scripts = [*SCRIPTS.glob("station*.js"), *SCRIPTS.glob("station/*.js")]
    assert len(scripts) > 10
    assert [path.name for path in scripts if "Date" in path.read_text(encoding="utf-8")] == []
