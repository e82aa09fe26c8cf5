"""Tests of qualification by keyboard and of gold pairs among other pairs."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from judgments.models import Document, Judgment, Pair, Probe, ProbeAnswer, Query, Round
from judgments.quality import gold_pairs
from judgments.rating import inserted_checks, keyboard_shortcuts
from tests.browser.axe import violations
from tests.browser.station import make_round, press, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def known(collection: Any, first: int, number: int) -> list[gold_pairs.Known]:
    """Pairs of known grade 2, each of a query of its own."""
    made = []
    for place in range(first, first + number):
        query = Query.objects.create(collection=collection, query_id=f"g{place}", text=f"known {place}")
        document = Document.objects.create(collection=collection, doc_id=f"k{place}", title=f"Known {place}", text="A.")
        made.append(gold_pairs.Known(query, document, 2, "It is what was asked for."))
    return made


@pytest.fixture
def calibrating(collection: Any, lead: Any, rater: Any) -> Round:
    made = make_round(collection, lead, [rater], ratings_per_pair=1)
    gold_pairs.add(made, known(collection, 0, 2), use="calibration", actor=lead)
    gold_pairs.add(made, known(collection, 2, 3), use="hidden", actor=lead)
    Round.objects.filter(pk=made.pk).update(pass_mark=0.5, gold_every=5)
    return Round.objects.get(pk=made.pk)


def test_calibrate_by_keys_then_rate_what_comes(page, go, enter, calibrating, rater, faults):
    enter(rater)
    go("rate", calibrating)
    page.wait_for_url("**/calibrate/")
    assert violations(page) == []
    for key, message in (("2", "Correct"), ("0", "Incorrect")):
        ready(page)
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=message, exact=True)).to_be_visible()
        expect(page.get_by_text("It is what was asked for.")).to_be_visible()
        ready(page)
        page.keyboard.press("g")
        expect(page.get_by_role("heading", name="Grade what helps")).to_be_visible()
        page.keyboard.press("Escape")
        assert violations(page) == []
        page.keyboard.press("Enter")
        page.wait_for_url(lambda address: "told" not in address)
    expect(page.get_by_role("heading", name="You are qualified")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert violations(page) == []
    page.get_by_role("link", name="Start Round 1").click()
    page.wait_for_url("**/rate/")
    shown = []
    due = inserted_checks._due(f"{calibrating.seed} gold r01", 5, 12)
    for _ in range(12 + due):
        ready(page)
        shown.append(page.locator(".ask__query").inner_text())
        press(page, "1")
    expect(page.get_by_role("heading", name="Round 1 is complete")).to_be_visible()
    assert Judgment.objects.count() == 12
    mixed = ProbeAnswer.objects.filter(probe__kind=Probe.Kind.GOLD)
    assert mixed.count() == Probe.objects.filter(kind=Probe.Kind.GOLD).count() == due
    for query in ("rain jacket", "tent"):
        places = [place for place, text in enumerate(shown) if text == query]
        assert places == list(range(places[0], places[0] + 6)), "a query was broken in two"
    assert Pair.objects.filter(slots__filled_by__isnull=True).count() == 0
    assert faults == []


def test_the_keys_are_those_of_the_station_ones_own_among_them(page, go, enter, calibrating, rater, faults):
    text = "".join(f"<p>Paragraph {number} says nothing.</p>" for number in range(400))
    Document.objects.filter(doc_id__startswith="k").update(text=f"{text}<p>It is known, and no more.</p>")
    keyboard_shortcuts.set_keys(rater, {"unable": "x", "grade-2": "d"})
    enter(rater)
    go("calibrate", calibrating)
    ready(page)
    whole, marks = page.locator(".doc__whole .doc__text"), page.locator("#doc[data-plain]")
    assert [key for key in page.locator("kbd:visible").all_inner_texts() if not key.strip()] == []
    page.keyboard.press("f")
    expect(whole).to_contain_text("Paragraph 399 says")
    page.keyboard.press("f")
    expect(whole).to_be_hidden()
    page.keyboard.press("h")
    expect(marks).to_have_count(1)
    page.keyboard.press("h")
    expect(marks).to_have_count(0)
    page.keyboard.press("?")
    box = page.locator("#keys")
    expect(box).to_contain_text("full text, then larger image")
    expect(box).not_to_contain_text("show the pair again at the end")
    assert violations(page) == []
    page.keyboard.press("?")
    expect(box).to_be_hidden()
    # The usual key means nothing once there is another, and a reason is asked for, as on the station.
    for key in "ux":
        page.keyboard.press(key)
    expect(page.locator("#unable-box")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Incorrect", exact=True)).to_be_visible()
    answer = ProbeAnswer.objects.get()
    assert (answer.state, answer.reason) == ("unrateable", "document broken")
    ready(page)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "told" not in address)
    ready(page)
    page.keyboard.press("d")
    expect(page.get_by_role("heading", name="Correct", exact=True)).to_be_visible()
    assert faults == []
