"""Tests of the station when its round is closed, the rater is paused or removed, or a pair is reassigned."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from judgments.models import Membership, Slot
from judgments.quality import pausing
from judgments.rating import assignment
from judgments.rounds import rounds
from tests.browser.axe import violations
from tests.browser.station import (
    answered,
    list_of,
    make_round,
    mine,
    press,
    quick,
    ready,
    stand_still,
    stored_notice,
    title,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NEXT = "/rate/next/"


def test_a_closed_round_takes_the_documents_away(page, station, enter, open_round, lead, rater):
    enter(rater)
    station(page, open_round)
    press(page, "1")
    # The page that says why is held back: what the station itself does is asked.
    page.route("**/rate/", lambda route: route.abort() if route.request.method == "HEAD" else route.continue_())
    rounds.close_round(open_round, actor=lead)
    press(page, "2")
    expect(page.get_by_role("heading", name="You can’t rate here anymore")).to_be_visible()
    expect(page.locator("#shown")).to_contain_text("is closed")
    expect(stored_notice(page)).to_contain_text("1 rejected by the server")
    expect(page.locator("#undo")).to_be_disabled()
    expect(page.get_by_role("button", name="Undo")).to_have_count(1)
    assert violations(page) == []
    for key in "33z":
        page.keyboard.press(key)
    expect(stored_notice(page)).to_contain_text("1 rejected by the server")
    assert list(mine(rater).values_list("grade", flat=True)) == [1]


def test_the_page_of_a_closed_round_shows_what_was_not_taken(page, station, enter, open_round, lead, rater):
    enter(rater)
    station(page, open_round)
    press(page, "1")
    rounds.close_round(open_round, actor=lead)
    press(page, "2")
    expect(page.get_by_role("heading", name="Round 1 is closed")).to_be_visible()
    expect(page.get_by_text("Your 1 answer is saved")).to_be_visible()
    expect(stored_notice(page)).to_contain_text("1 rejected by the server")


def test_a_pause_is_met_with_the_next_documents_and_ends_where_it_began(page, station, enter, open_round, lead, rater):
    enter(rater)
    station(page, open_round)
    assignment = open_round.raters.get(user=rater)
    pausing.pause(assignment, reason="Let us talk first.", actor=lead)
    # Documents are fetched when fewer than eight lie ready; until then what was handed out may be answered.
    for _ in range(4):
        press(page, "2")
    expect(page.get_by_role("heading", name="You are paused in Round 1")).to_be_visible()
    expect(page.get_by_text("Let us talk first.")).to_be_visible()
    expect(stored_notice(page)).to_be_hidden()
    assert mine(rater).count() == 4
    pausing.resume(assignment, actor=lead)
    station(page, open_round)
    press(page, "2")
    assert mine(rater).count() == 5


def test_removed_raters_see_a_message_and_unsaved_answers(page, station, enter, open_round, rater, collection):
    enter(rater)
    station(page, open_round)
    Membership.objects.filter(user=rater, collection=collection).delete()
    # Whether there is a page to go to is asked before: the one that one is not let into would not show the answer.
    with answered(page, lambda request: request.method == "HEAD") as looked:
        press(page, "2")
    assert not looked.value.ok
    expect(page.locator("#shown")).to_contain_text("You are no longer a member of Shop search.")
    stored_notice(page).get_by_role("button", name="View answers").click()
    expect(page.locator("#refused-box")).to_contain_text("no longer a member of Shop search")
    assert page.url.endswith("/rate/")


def test_a_list_stops_too_and_keeps_what_was_not_taken(page, live_server, enter, open_round, lead, rater):
    enter(rater)
    page.goto(live_server.url + list_of(open_round))
    ready(page)
    press(page, "2")
    rounds.close_round(open_round, actor=lead)
    press(page, "3")
    expect(page.get_by_role("alert")).to_contain_text("is closed")
    expect(stored_notice(page)).to_contain_text("1 rejected by the server")
    expect(page.locator("#undo")).to_be_disabled()
    assert violations(page) == []
    for key in "11u":
        page.keyboard.press(key)
    expect(page.locator("#unable-box")).to_be_hidden()
    page.get_by_role("button", name="Reload").click()
    expect(page.get_by_role("heading", name="Round 1 is closed")).to_be_visible()
    expect(stored_notice(page)).to_contain_text("1 rejected by the server")
    assert list(mine(rater).values_list("grade", flat=True)) == [2]


def test_a_reassigned_pair_is_not_graded(page, station, enter, open_round, rater, rater2, rater3):
    enter(rater)
    page.clock.install()
    station(page, open_round)
    first = title(page)
    hand_over(first, [rater2, rater3])
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url) if NEXT in request.url else None)
    page.clock.fast_forward("09:00")
    page.evaluate("dispatchEvent(new Event('focus'))")
    assert (title(page), requests) == (first, []), "what was looked at so shortly ago is not looked at again"
    page.clock.fast_forward("02:00")
    with answered(page, lambda request: NEXT in request.url):
        page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator("#toast")).to_contain_text("This document was reassigned while you were away.")
    expect(page.locator("#shown h2")).not_to_have_text(first)
    now = title(page)
    press(page, "3")
    assert mine(rater).get().pair.document.title == now
    assert not mine(rater).filter(surplus=True).exists()


def test_a_fetch_that_was_due_long_ago_finds_out_too(page, live_server, go, enter, open_round, rater, rater2, rater3):
    """A machine slept while the line was down: its retry comes before anybody looks at the page."""
    enter(rater)
    stand_still(page)
    failed: list[Route] = []

    def once(route: Route) -> None:
        if failed:
            return route.continue_()
        failed.append(route)
        return route.abort()

    page.route(f"**{NEXT}", once)
    with page.expect_event("requestfailed", lambda request: NEXT in request.url):
        go("rate", open_round)
    first = title(page)
    hand_over(first, [rater2, rater3])
    page.clock.fast_forward("11:00")
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator("#toast")).to_contain_text("This document was reassigned while you were away.")
    expect(page.locator("#shown h2")).not_to_have_text(first)


def hand_over(name: str, users: list[Any]) -> None:
    """The places of this document are others' from here on."""
    until = timezone.now() + timedelta(hours=1)
    slots = Slot.objects.filter(pair__document__title=name).order_by("number")
    for slot, user in zip(slots, users, strict=True):
        Slot.objects.filter(pk=slot.pk).update(rater=user, lease_until=until)


def test_stopping_sends_what_was_answered_and_gives_back_what_is_open(
    page, context, live_server, station, enter, collection, lead, rater, rater2
):
    round_ = make_round(collection, lead, [rater, rater2], ratings_per_pair=1)
    enter(rater)
    station(page, round_)
    assert assignment.claim_batch(round_, rater=rater2, size=20) == [], "all of it is in the first one's hands"
    context.set_offline(True)
    quick(page, "2")
    page.get_by_role("button", name="Stop for now").click()
    expect(page.locator("#toast")).to_contain_text("Open documents go to other raters after 30 minutes")
    context.set_offline(False)
    page.get_by_role("button", name="Stop for now").click()
    page.wait_for_url(f"{live_server.url}/")
    expect(page.get_by_text("Released 11 documents.")).to_be_visible()
    expect(page.get_by_role("button", name="Release documents")).to_have_count(0)
    assert mine(rater).get().grade == 2
    assert len(assignment.claim_batch(round_, rater=rater2, size=20)) == 11


def test_raters_who_left_can_return_pairs_on_their_page(page, live_server, enter, collection, lead, rater, rater2):
    round_ = make_round(collection, lead, [rater, rater2], ratings_per_pair=1)
    enter(rater)
    page.goto(live_server.url + list_of(round_))
    ready(page)
    page.goto(live_server.url)
    assert violations(page) == []
    page.get_by_role("button", name="Release documents in Round 1").click()
    expect(page.get_by_text("Released 12 documents.")).to_be_visible()
    assert len(assignment.claim_batch(round_, rater=rater2, size=20)) == 12


def test_an_unfinished_note_waits_with_its_document(page, station, enter, open_round, rater: Any):
    enter(rater)
    station(page, open_round)
    press(page, "1")
    ready(page)
    begun = title(page)
    page.keyboard.press("n")
    page.get_by_label("What should the lead know?").fill("The picture shows another one.")
    page.get_by_role("button", name="Back to grades").last.click()
    press(page, "z")
    press(page, "0")
    expect(page.locator("#shown h2")).to_have_text(begun)
    press(page, "2")
    notes = {row.pair.document.title: row.note for row in mine(rater).select_related("pair__document")}
    assert notes.pop(begun) == "The picture shows another one."
    assert set(notes.values()) == {""}
