"""Tests of a whole comparison in the browser: from an empty installation to a verdict with three raters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from evaluation.models import Decision
from judgments.models import Judgment, User
from tests.browser.axe import violations
from tests.browser.station import answered, ready
from tests.evaluation.decisions.conftest import lists, rate, run_file, start, systems

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
__all__ = ["start", "systems"]  # fixtures
SECRET = "tents and stoves 7"
MOST_CLICKS = 8


class Hand:
    """Clicks like a person, and counts the clicks."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, place: Locator) -> None:
        self.clicks += 1
        place.click()

    def choose_file(self, place: Locator, path: Path) -> None:
        self.clicks += 1
        place.set_input_files(path)

    def type(self, place: Locator, text: str) -> None:
        self.clicks += 1
        place.fill(text)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The results of two systems, and what raters see of them."""
    before, after = lists(0.9)
    doc_ids = sorted({doc_id for ranked in (before, after) for of in ranked.values() for doc_id in of})
    contents = {
        "current.run": run_file(before),
        "new.run": run_file(after),
        "documents.csv": "doc_id,title,text\n" + "".join(f"{one},Title of {one},Light and dry.\n" for one in doc_ids),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return {name: tmp_path / name for name in contents}


def join(browser: Browser, address: str, name: str) -> None:
    """Open an invitation link, create an account, and reach the station."""
    page = browser.new_page()
    page.goto(address)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_label("Repeat the password").fill(SECRET)
    page.get_by_role("button", name="Create account and start").click()
    page.wait_for_url("**/rate/")
    page.close()


def test_from_an_empty_installation_to_a_verdict(
    page: Page, browser: Browser, live_server: Any, lead: Any, files: dict[str, Path], tmp_path: Path, enter: Any
) -> None:
    enter(lead)
    hand = Hand()
    page.goto(live_server.url)
    hand.click(page.get_by_role("main").get_by_role("link", name="Compare two systems"))
    hand.choose_file(page.get_by_label("Run file of the current system"), files["current.run"])
    hand.choose_file(page.get_by_label("Run files of the changed systems"), files["new.run"])
    hand.choose_file(page.get_by_label("Documents (optional)"), files["documents.csv"])
    assert violations(page) == []
    hand.click(page.get_by_role("button", name="Continue"))
    hand.type(page.get_by_label("Invite people (optional)"), "Rosa\nRudi")
    assert violations(page) == []
    hand.click(page.get_by_role("button", name="Start"))
    addresses = [page.locator(f"#secret-{number}").inner_text() for number in (1, 2)]
    with answered(page, lambda request: "/rate/next/" in request.url):
        hand.click(page.get_by_role("link", name="Start rating"))
    ready(page)
    decision = Decision.objects.select_related("round").get()
    assert decision.round is not None
    with page.expect_response(f"**/rounds/{decision.round.uuid}/judgments/"):
        page.keyboard.press("2")
    assert hand.clicks <= MOST_CLICKS
    assert Judgment.objects.filter(rater=lead, grade=2).count() == 1

    for address, name in zip(addresses, ("rosa", "rudi"), strict=True):
        join(browser, address, name)
    assert decision.round.raters.count() == 3
    page.goto(f"{live_server.url}/c/{decision.collection.slug}/decisions/{decision.uuid}/")
    expect(page.get_by_role("heading", name="Hidden while you rate")).to_be_visible()

    for name in ("rosa", "rudi"):
        rate(decision, User.objects.get(username=name), most=150)
    rate(decision, lead)
    page.reload()
    expect(page.get_by_role("heading", name="new is better than current")).to_be_visible()
    assert violations(page) == []
    decision.round.refresh_from_db()
    assert decision.round.state == "closed"

    with page.expect_download() as download:
        page.get_by_role("link", name="Download report").click()
    report = tmp_path / "report.html"
    download.value.save_as(report)
    page.goto(report.as_uri())
    expect(page.get_by_role("heading", name="new is better than current")).to_be_visible()


def test_an_estimate_starts_nothing(
    page: Page, live_server: Any, lead: Any, files: dict[str, Path], enter: Any
) -> None:
    """The estimate that waits for the end of typing may be asked for after the button got the focus."""
    enter(lead)
    page.goto(live_server.url)
    page.get_by_role("main").get_by_role("link", name="Compare two systems").click()
    page.get_by_label("Run file of the current system").set_input_files(files["current.run"])
    page.get_by_label("Run files of the changed systems").set_input_files(files["new.run"])
    page.get_by_role("button", name="Continue").click()
    with page.expect_response(lambda answer: answer.request.method == "POST") as estimated:
        page.get_by_role("button", name="Start").focus()
        page.get_by_label("Invite people (optional)").evaluate(
            "field => { field.value = 'Rosa'; field.dispatchEvent(new Event('change', { bubbles: true })); }"
        )
    assert estimated.value.status == 200
    assert not Decision.objects.exists()


def test_the_page_follows_raters_without_a_reload(
    page: Page, live_server: Any, start: Any, rater: Any, lead: Any, enter: Any
) -> None:
    decision = start(*lists(0.9), closes=True)
    enter(lead)
    page.goto(f"{live_server.url}/c/shop/decisions/{decision.uuid}/")
    expect(page.get_by_role("heading", name="It is not decided yet")).to_be_visible()
    rate(decision, rater)
    expect(page.get_by_role("heading", name="new is better than current")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1920])
def test_a_changed_value_changes_the_effort_in_place(
    page: Page, live_server: Any, systems: Any, lead: Any, enter: Any, width: int
) -> None:
    baseline, candidate = systems(*lists(0.5))
    enter(lead)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{live_server.url}/c/shop/decisions/new/plan/?baseline={baseline.uuid}&candidate={candidate.uuid}")
    effort = page.locator("#effort")
    first = effort.inner_text()
    page.get_by_text("Settings: ").click()
    page.get_by_label("Ratings per pair").fill("2")
    page.get_by_label("Ratings per pair").blur()
    page.wait_for_function("text => document.querySelector('#effort').innerText !== text", arg=first)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_stakeholder_compares_lists_on_a_phone(
    page: Page, live_server: Any, start: Any, rater2: Any, enter: Any
) -> None:
    decision = start(*lists(0.5, queries=4))
    enter(rater2)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{live_server.url}/c/shop/decisions/{decision.uuid}/lists/")
    page.get_by_role("button", name="Begin").click()
    for side in ("Left", "Right", "Same"):
        expect(page.get_by_role("heading", name="Left")).to_be_visible()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        heading = page.get_by_role("heading", level=1).inner_text()
        page.get_by_role("button", name=side).click()
        expect(page.get_by_role("heading", level=1)).not_to_have_text(heading)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="Done, thank you")).to_be_visible()
    assert decision.list_judges.get().preferences.count() == 4
