"""Tests of correcting an earlier judgment by keyboard, and of a list whose round has ended."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from judgments.models import Judgment, Membership, Slot
from judgments.quality import pausing
from judgments.rounds import rounds
from tests.browser.axe import violations
from tests.browser.station import answered, mine, press, ready, stored_notice, title

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LAST = "/rate/last/"


def come_back(page: Page, after: str) -> None:
    """Somebody looks at the page again after so long, and the server is asked."""
    page.clock.fast_forward(after)
    with answered(page, lambda request: "/rate/next/" in request.url):
        page.evaluate("dispatchEvent(new Event('focus'))")


def test_one_key_to_the_last_answers_one_to_open_and_one_to_change(page, station, enter, open_round, rater):
    enter(rater)
    station(page, open_round)
    titles = []
    for key in "012":
        ready(page)
        titles.append(title(page))
        press(page, key)
    page.keyboard.press("r")
    page.wait_for_url(f"**{LAST}")
    answers = page.locator(".answers > li")
    expect(answers).to_have_count(3)
    assert [titles[2 - place] in answers.nth(place).inner_text() for place in range(3)] == [True] * 3
    assert violations(page) == []
    with answered(page, lambda request: "/rate/next/" in request.url):
        page.get_by_role("link", name=f"Change the answer for {titles[0]}").press("Enter")
    expect(page.locator(".again")).to_contain_text("Your answer: 0")
    assert title(page) == titles[0]
    assert violations(page) == []
    press(page, "3")
    expect(page.locator(".again")).to_have_count(0)
    expect(page.locator("#shown h2")).not_to_have_text(titles[0])
    chain = Judgment.objects.filter(rater=rater, pair__document__title=titles[0]).order_by("pk")
    assert [(row.grade, row.how.get("undos")) for row in chain] == [(0, 0), (3, 1)]
    # What comes next is what was not answered yet.
    press(page, "1")
    assert mine(rater).count() == 4


def test_a_reopened_judgment_can_stay_unchanged(page, station, enter, open_round, rater):
    enter(rater)
    station(page, open_round)
    press(page, "2")
    page.keyboard.press("r")
    page.get_by_role("link", name="Change the answer").press("Enter")
    ready(page)
    with page.expect_navigation():
        page.keyboard.press("l")
    ready(page)
    assert list(mine(rater).values_list("grade", "state")) == [(2, "graded")]


def test_from_a_list_it_goes_back_to_the_list(page, listed, enter, open_round, rater):
    enter(rater)
    listed(page, open_round)
    press(page, "2")
    page.keyboard.press("r")
    page.get_by_role("link", name="Change the answer").press("Enter")
    ready(page)
    with page.expect_navigation():
        page.keyboard.press("0")
    ready(page)
    expect(page.locator("#list > li")).to_have_count(6)
    expect(page.locator("[data-graded]")).to_have_text("1")
    assert list(mine(rater).values_list("grade", flat=True)) == [0]


def test_without_a_line_the_station_stays(page, context, station, enter, open_round, rater):
    enter(rater)
    station(page, open_round)
    context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("r")
    expect(page.locator("#toast")).to_contain_text("when you are online again")
    expect(stored_notice(page)).to_contain_text("1 unsent")
    context.set_offline(False)
    expect(stored_notice(page)).to_be_hidden()
    page.keyboard.press("r")
    expect(page.locator(".answers > li")).to_have_count(1)


def test_an_idle_list_learns_that_the_round_was_closed(page, listed, enter, open_round, lead, rater):
    enter(rater)
    page.clock.install()
    listed(page, open_round)
    press(page, "2")
    rounds.close_round(open_round, actor=lead)
    page.clock.fast_forward("09:00")
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.get_by_role("alert")).to_be_hidden()
    come_back(page, "02:00")
    expect(page.get_by_role("alert")).to_contain_text("is closed")
    page.keyboard.press("3")
    expect(stored_notice(page)).to_be_hidden()
    assert list(mine(rater).values_list("grade", flat=True)) == [2]
    page.get_by_role("button", name="Reload").click()
    expect(page.get_by_role("heading", name="Round 1 is closed")).to_be_visible()


@pytest.mark.parametrize("how", ["paused", "taken out"])
def test_an_idle_list_learns_that_its_rater_waits_or_is_out(
    page, listed, enter, open_round, collection, lead, rater, how
):
    enter(rater)
    page.clock.install()
    listed(page, open_round)
    press(page, "1")
    if how == "paused":
        pausing.pause(open_round.raters.get(user=rater), reason="Let us talk first.", actor=lead)
    else:
        Membership.objects.filter(user=rater, collection=collection).delete()
    come_back(page, "11:00")
    words = "Let us talk first." if how == "paused" else "no longer a member of Shop search"
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(page.locator("#undo")).to_be_disabled()
    assert mine(rater).count() == 1


def test_reassigned_rows_leave_the_idle_list(page, listed, enter, open_round, rater, rater2, rater3):
    enter(rater)
    page.clock.install()
    listed(page, open_round)
    press(page, "1")
    gone = page.locator("#list > li").nth(1).locator("h2").inner_text()
    for slot, user in zip(Slot.objects.filter(pair__document__title=gone), (rater2, rater3), strict=True):
        Slot.objects.filter(pk=slot.pk).update(rater=user, lease_until="2100-01-01T00:00:00Z")
    come_back(page, "11:00")
    expect(page.locator("#toast")).to_contain_text("One document was reassigned")
    expect(page.locator("#list > li")).to_have_count(5)
    expect(page.locator("#ask")).to_contain_text("1 of 5 graded")
    press(page, "2")
    assert not mine(rater).filter(surplus=True).exists()
    assert mine(rater).count() == 2
