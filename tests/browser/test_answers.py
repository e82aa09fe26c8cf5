"""Tests of grading answers in a browser: by keyboard, without a script, narrow and wide."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from judgments.models import Round
from judgments.rating import assignment
from judgments.rounds import rounds
from judgments.rounds.answer_rounds import GivenAnswer, Passage, create_answer_rounds
from tests.browser.axe import violations
from tests.browser.station import mine, press, ready
from tests.browser.test_every_page import OVERFLOW, show
from tests.world import grade_together

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "Some other sentence stands here. " * 60


@pytest.fixture
def answers() -> list[GivenAnswer]:
    """Ten answers to five questions; the last one has no evidence."""
    created = []
    for number in range(10):
        evidence = (
            Passage("d1", f"It is blue. The shell number {number} is waterproof.", "Shell", "https://shop.example/1"),
            Passage("d2", f"{LONG}The shell has {number} pockets. {LONG}", "Pockets"),
        )
        created.append(
            GivenAnswer(
                f"q{number // 2}",
                f"What about shell {number // 2}?",
                f"The shell number {number} is waterproof [1]. It has {number} pockets [2].",
                evidence if number < 9 else (),
                "It is waterproof." if number % 4 < 2 else "",
            )
        )
    return created


@pytest.fixture
def answer_rounds(collection: Any, lead: Any, rater: Any, rater2: Any, answers: list[GivenAnswer]) -> list[Round]:
    made = create_answer_rounds(
        collection,
        name="RAG",
        answers=answers,
        dimensions=["faithful", "correct"],
        raters=[rater, rater2],
        actor=lead,
    )
    return [rounds.open_round(one, actor=lead) for one in made]


def test_a_rater_grades_ten_answers_by_keyboard(
    page: Page, go: Any, enter: Any, answer_rounds: list[Round], rater: Any, faults: list[str]
) -> None:
    enter(rater)
    go("rate", answer_rounds[0])
    expect(page.locator("#ask")).to_contain_text("Does the evidence support the answer?")
    expect(page.locator("#doc .passage")).to_have_count(2)
    for number in range(10):
        press(page, str(number % 3))
    assert sorted(mine(rater).values_list("grade", flat=True)) == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert faults == []


def test_a_citation_leads_to_its_passage_and_the_answer_stays_in_sight(
    page: Page, go: Any, enter: Any, answer_rounds: list[Round], rater: Any, faults: list[str]
) -> None:
    enter(rater)
    go("rate", answer_rounds[1])
    ready(page)
    expect(page.locator(".passage__excerpt mark")).to_contain_text("pockets.")
    for width in (1280, 390):
        show(page, width, "light")
        page.locator(".cite").nth(1).focus()
        page.keyboard.press("Enter")
        expect(page.locator(".passage").nth(1)).to_be_in_viewport()
        expect(page.locator(".passage:target")).to_have_count(1)
        # The page itself never moves: the question and the grades stay where they are.
        assert page.evaluate("document.scrollingElement.scrollTop") <= 1
        assert page.evaluate(OVERFLOW) <= 0
    show(page, 1280, "light")
    expect(page.locator(".answer__text h2")).to_be_in_viewport()
    press(page, "2")  # a digit grades, wherever the focus was left
    assert mine(rater).get().grade == 2
    assert faults == []


def test_the_station_is_sound_in_every_width(
    page: Page, go: Any, enter: Any, answer_rounds: list[Round], rater: Any
) -> None:
    enter(rater)
    for way in ("", "?mode=list"):
        go("rate", answer_rounds[1])
        page.goto(page.url + way)
        if way:
            page.locator(".short summary").first.click()
        for width, scheme in ((1920, "light"), (1280, "dark"), (390, "light")):
            show(page, width, scheme)
            assert violations(page) == [], (way, width, scheme)
            assert page.evaluate(OVERFLOW) <= 0, (way, width)


def test_answers_are_graded_without_a_script(
    browser: Browser, live_server: Any, client_of: Any, answer_rounds: list[Round], rater: Any
) -> None:
    cookie = client_of(rater).cookies["sessionid"].value
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    plain = context.new_page()
    plain.goto(f"{live_server.url}/rounds/{answer_rounds[0].uuid}/rate/")
    for _ in range(3):
        plain.locator(".cite").first.click()
        expect(plain.locator(".passage").first).to_be_in_viewport()
        plain.locator("[name=grade][value='1']").click()
    assert list(mine(rater).values_list("grade", flat=True)) == [1, 1, 1]
    context.close()


def test_a_lead_reads_answer_and_evidence_of_a_conflict(
    page: Page,
    live_server: Any,
    enter: Any,
    answer_rounds: list[Round],
    rater: Any,
    rater2: Any,
    lead: Any,
    faults: Any,
) -> None:
    for person, grade in ((rater, 0), (rater2, 2)):
        batch = assignment.claim_batch(answer_rounds[0], rater=person, size=3)
        grade_together(answer_rounds[0], person, {pair.uuid: grade for pair in batch})
    enter(lead)
    pair = answer_rounds[0].pairs.filter(spread=2).first()
    for path in (
        f"/rounds/{answer_rounds[0].uuid}/conflicts/{pair.uuid}/",
        f"/c/shop/documents/{pair.document.uuid}/",
        f"/rounds/{answer_rounds[0].uuid}/progress/",
        "/c/shop/rounds/",
    ):
        page.goto(live_server.url + path)
        for width, scheme in ((1280, "light"), (390, "dark")):
            show(page, width, scheme)
            assert violations(page) == [], (path, width)
            assert page.evaluate(OVERFLOW) <= 0, (path, width)
    assert faults == []
