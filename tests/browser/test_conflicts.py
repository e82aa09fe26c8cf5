"""Tests of resolving conflicts by keyboard and of examples in guidelines."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from judgments.models import Adjudication, Round
from judgments.rounds import rounds
from tests.browser.axe import violations
from tests.world import make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_from_a_conflict_to_a_round_under_the_next_guidelines(
    page: Page,
    live_server: Any,
    collection: Any,
    lead: Any,
    engineer: Any,
    rater: Any,
    rater2: Any,
    enter: Any,
    faults: Any,
) -> None:
    world = make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)
    enter(lead)
    page.goto(f"{live_server.url}/rounds/{world.closed.uuid}/conflicts/{world.conflict.uuid}/")
    chosen = page.locator("[name=grade]:checked")
    page.keyboard.press("1")
    expect(chosen).to_have_value("1")
    # No grade of the scale, a modifier, and typing: none of them chooses.
    page.keyboard.press("7")
    page.keyboard.press("Control+2")
    page.get_by_label("Reason shown to raters").type("3 of 4 layers, 0 seams.")
    expect(chosen).to_have_value("1")
    page.get_by_label("Propose as an example").check()
    assert [*violations(page), *faults] == []
    page.get_by_role("button", name="Resolve").click()
    expect(page.get_by_text("Resolved as 1.")).to_be_visible()
    assert Adjudication.objects.get().reason == "3 of 4 layers, 0 seams."

    page.goto(f"{live_server.url}/c/shop/guidelines/new/")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".difference ins").filter(has_text="3 of 4 layers, 0 seams.")).to_be_visible()
    assert [*violations(page), *faults] == []
    page.get_by_role("button", name="Add version 2").click()
    page.get_by_role("link", name="Create round with version 2").click()
    page.locator("main li a").first.click()
    expect(page.get_by_label("Guidelines")).to_have_value(str(collection.guidelines.get(number=2).uuid))
    page.get_by_role("button", name="Yes or no, 0-1").click()
    page.get_by_text("More options for raters and quality").click()
    page.get_by_label("Pairs per hidden gold pair").fill("8")
    # Enter in a field counts again; it does not press the first button that it finds.
    page.get_by_label("Name").fill("Second")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Label of grade 2")).to_have_value("Relevant")
    page.get_by_role("button", name="Save as draft").click()
    page.wait_for_url("**/progress/")
    made = Round.objects.get(name="Second")
    assert (made.guidelines.number, made.scale.values(), made.gold_every) == (2, [0, 1], 8)
    assert rounds.is_rater(rater, made)
