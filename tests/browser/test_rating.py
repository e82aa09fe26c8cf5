"""Tests of the main task: rate by keyboard, read the agreement, freeze and download qrels."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from judgments.models import Snapshot
from tests.browser.axe import violations
from tests.browser.station import mine, press, rate_all, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.quick
def test_rate_by_keyboard_then_freeze_and_download(page, go, log_in, open_round, rater, rater2, lead, faults):
    log_in(rater)
    go("rate", open_round)
    for number in range(10):
        press(page, str(number % 4))
    assert mine(rater).count() == 10
    expect(page.locator("#toast")).to_contain_text("Saved 1, Fair.")
    press(page, "z")
    assert mine(rater).count() == 9
    expect(page.locator("#toast")).to_contain_text("Undone")
    press(page, "Numpad2")
    expect(page.locator("#toast")).to_contain_text("Saved 2, Good.")
    rate_all(open_round, rater2, grade=lambda pair: pair.position % 4)

    log_in(lead)
    go("round_agreement", open_round)
    expect(page.get_by_role("heading", name="Agreement:")).to_be_visible()
    expect(page.get_by_role("img", name="the gate is 0.60")).to_be_visible()
    page.locator(".steps a[href$='/snapshots/']").click()
    page.get_by_role("link", name="Preview labels").click()
    page.get_by_label("Name").fill("first")
    page.get_by_role("button", name="Freeze 12 labels").click()
    expect(page.get_by_role("link", name="qrels.txt")).to_be_visible()
    snapshot = Snapshot.objects.get()
    with page.expect_download() as download:
        page.get_by_role("link", name="qrels.txt").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert [line.split()[:3] for line in lines[:2]] == [["q1", "0", "q1-d1"], ["q1", "0", "q1-d2"]]
    assert len(lines) == snapshot.summary["labels"] == 12
    assert faults == []


def test_second_press_of_a_key_does_not_grade_the_next_document_unseen(page, go, enter, open_round, rater):
    enter(rater)
    go("rate", open_round)
    ready(page)
    page.keyboard.press("2")
    page.keyboard.press("2")
    page.keyboard.press("2")
    expect(page.locator("#toast")).to_contain_text("Saved 2")
    press(page, "1")
    assert sorted(mine(rater).values_list("grade", flat=True)) == [1, 2]


def test_keys_rest_while_one_types_a_note(page, go, enter, open_round, rater):
    enter(rater)
    go("rate", open_round)
    ready(page)
    page.keyboard.press("n")
    expect(page.get_by_label("What should the lead know?")).to_be_focused()
    page.keyboard.type("size 2, u l z")
    page.keyboard.press("Escape")
    assert not mine(rater).exists()
    press(page, "1")
    assert mine(rater).get().note == "size 2, u l z"


def test_keys_with_a_modifier_and_held_keys_do_nothing(page, go, enter, open_round, rater):
    enter(rater)
    go("rate", open_round)
    ready(page)
    page.keyboard.press("Alt+1")
    page.dispatch_event("body", "keydown", {"key": "1", "code": "Digit1", "repeat": True, "bubbles": True})
    press(page, "2")
    assert mine(rater).get().grade == 2


def test_cannot_judge_asks_for_a_reason_and_keeps_the_note(page, go, enter, open_round, rater):
    enter(rater)
    go("rate", open_round)
    ready(page)
    page.keyboard.press("n")
    page.keyboard.type("half of it is missing")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="Why can’t you judge it?")).to_be_visible()
    press(page, "2")
    judgment = mine(rater).get()
    assert (judgment.state, judgment.reason) == ("unrateable", "document broken")
    assert judgment.note == "half of it is missing"


def test_guidelines_keys_and_marks_are_a_key_away(page, go, enter, open_round, rater):
    enter(rater)
    go("rate", open_round)
    ready(page)
    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="Grade what helps")).to_be_visible()
    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="Grade what helps")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("h")
    expect(page.locator("#doc")).to_have_attribute("data-plain", "")


def test_screen_readers_announce_what_was_saved(page, go, enter, open_round, rater):
    enter(rater)
    go("rate", open_round)
    press(page, "3")
    expect(page.locator("#live")).to_contain_text("Saved 3, Perfect. Document 2 of 6")
    for _ in range(5):
        press(page, "1")
    expect(page.locator("#live")).to_contain_text("Document 1 of 6. New query: tent. A tent.")
    expect(page.locator(".ask__new")).to_be_visible()


def test_time_and_circumstances_are_recorded(page, go, enter, open_round, rater):
    enter(rater)
    go("rate", open_round)
    ready(page)
    page.keyboard.press("h")
    press(page, "0")
    judgment = mine(rater).get()
    assert judgment.seconds_active > 0
    expected = {"by": "key", "view": "one", "text": "short", "marks": False, "width": "middle", "undos": 0, "place": 1}
    assert judgment.how == expected


def test_script_in_a_document_does_not_run(page, go, enter, open_round, rater):
    enter(rater)
    go("rate", open_round)
    ready(page)
    expect(page.get_by_text("Fine text")).to_be_visible()
    assert page.title().startswith("rain jacket")
    assert page.locator("#doc script, #doc img").count() == 0


def test_station_works_without_javascript(browser, live_server, open_round, client_of, rater):
    context = browser.new_context(java_script_enabled=False)
    cookie = client_of(rater).cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page = context.new_page()
    page.goto(live_server.url + reverse("rate", args=[open_round.uuid]))
    page.get_by_role("button", name="2 Good").click()
    expect(page.locator("#toast")).to_contain_text("Saved 2, Good.")
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(page.locator("#toast")).to_contain_text("Undone")
    context.close()
    assert not mine(rater).exists()


def test_round_pages_are_accessible(page, go, enter, live_server, open_round, rater, rater2, lead):
    rate_all(open_round, rater, grade=lambda pair: pair.position % 4)
    rate_all(open_round, rater2, grade=lambda pair: 3 - pair.position % 4)
    enter(lead)
    for name in ("round_progress", "round_agreement", "conflicts"):
        go(name, open_round)
        assert violations(page) == [], name
    page.get_by_role("rowheader").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Resolve conflict")).to_be_visible()
    assert violations(page) == []
    for address in ("rounds/", "snapshots/", "snapshots/new/", "qrels/", "documents/new/", "query-logs/new/"):
        page.goto(f"{live_server.url}/c/shop/{address}")
        assert violations(page) == [], address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_station_is_accessible(page, go, enter, open_round, rater, scheme):
    page.emulate_media(color_scheme=scheme)
    enter(rater)
    go("rate", open_round)
    press(page, "1")
    assert violations(page) == []
    for key in ("g", "n"):
        page.keyboard.press(key)
        assert violations(page) == [], key
        page.keyboard.press("Escape")
    rate_all(open_round, rater)
    go("rate", open_round)
    assert violations(page) == []


def test_import_preview_and_snapshot_are_accessible(page, enter, live_server, open_round, rater, lead):
    rate_all(open_round, rater)
    enter(lead)
    page.goto(f"{live_server.url}/c/shop/qrels/new/")
    content = b"q1 0 q1-d1 3\nq1 0\n"
    page.locator("input[type=file]").set_input_files({"name": "old.txt", "mimeType": "text/plain", "buffer": content})
    page.get_by_role("button", name="Preview import").click()
    expect(page.get_by_role("heading", name="1 issue")).to_be_visible()
    assert violations(page) == []
    page.get_by_label("I have read the error").check()
    page.get_by_role("button", name="Store 1 row").click()
    expect(page.get_by_text("Stored 1 row from old.txt")).to_be_visible()
    page.goto(f"{live_server.url}/c/shop/snapshots/new/")
    page.get_by_label("Name").fill("first")
    page.get_by_role("button", name="Freeze 12 labels").click()
    expect(page.get_by_role("heading", name="first")).to_be_visible()
    assert violations(page) == []


def test_scan_sees_a_planted_fault(page, log_in, rater, collection):
    log_in(rater)
    page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert any(line.startswith("image-alt") for line in violations(page))
