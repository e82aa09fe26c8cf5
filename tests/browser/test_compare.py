"""Tests of the pages of a comparison and of a query: keyboard, no script, narrow and dark."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from evaluation.scoring import scoring
from tests.browser.axe import violations
from tests.evaluation.stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COMPARE = "/c/shop/scores/compare/?a=neural&b=bm25"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def address(
    page: Page, live_server: Any, collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any, client_of: Any
) -> str:
    """Where the server is; the engineer is logged in, two runs are scored on a snapshot with head and tail."""
    stage = Stage(collection, lead, [rater, rater2])
    stage.queries(tier="head")
    collection.queries.filter(query_id__gte="q06").update(tier="tail")
    stage.documents()
    stage.run("bm25", "0123")
    stage.run("neural", "1045")
    round_ = stage.round()
    stage.graded(round_, _grade)
    scoring.score_runs(stage.frozen(round_), list(collection.runs.all()), actor=engineer)
    session = client_of(engineer).cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    return str(live_server.url)


def _grade(pair: Any, place: int) -> int:
    """Document d0 is perfect, d1 differs from query to query, the others are poor."""
    return {"d0": 3, "d1": int(pair.query.query_id[1:]) % 4}.get(pair.document.doc_id, 0)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_pages_are_sound(page: Page, address: str, faults: list[str], width: int, scheme: Any) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for path in (f"{COMPARE}&query=q03", "/c/shop/scores/query/?query=q03&document=d0"):
        page.goto(address + path)
        assert [*violations(page), *faults] == []
        assert page.evaluate(OVERFLOW) <= 0


def test_bars_are_one_stop_and_arrows_go_from_bar_to_bar(page: Page, address: str) -> None:
    page.goto(address + COMPARE)
    bars = page.locator(".differences a.hit")
    assert [bar.get_attribute("tabindex") for bar in bars.all()] == ["0", *["-1"] * 11]
    bars.first.focus()
    page.keyboard.press("ArrowRight")
    expect(bars.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(bars.last).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h2#opened")).to_be_visible()
    expect(page.locator('.differences a.hit[aria-current="true"]')).to_have_attribute("tabindex", "0")


def test_without_script_every_bar_is_a_link(browser: Browser, page: Page, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(page.context.cookies(address))  # type: ignore[arg-type]
    plain = context.new_page()
    plain.goto(address + COMPARE)
    bar = plain.locator(".differences a.hit").nth(2)
    target = bar.get_attribute("href")
    assert bar.get_attribute("tabindex") is None
    bar.focus()
    plain.keyboard.press("Enter")
    plain.wait_for_url(f"**{target}")
    expect(plain.locator(".moves section")).to_have_count(2)
    context.close()


def test_lines_join_the_rows_of_both_lists(page: Page, address: str) -> None:
    """A line of the first document starts beside its row: the picture is as high as the tables, heads included."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{address}{COMPARE}&query=q03")
    tables = [table.bounding_box() for table in page.locator(".moves table").all()]
    lines = page.locator(".moves__lines").bounding_box()
    assert lines is not None
    assert None not in tables
    for table in tables:
        assert table is not None
        assert lines["y"] == pytest.approx(table["y"], abs=2)
        assert lines["height"] == pytest.approx(table["height"], abs=3)
    rows = [row.bounding_box() for row in page.locator(".moves tr").all()]
    heights = [row["height"] for row in rows if row is not None]
    assert max(heights) - min(heights) <= 1.5, heights  # with holes and without


def test_a_phone_shows_wins_and_losses_without_scrolling_sideways(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address + COMPARE)
    counts = page.locator(".outcomes")
    box = counts.bounding_box()
    assert box
    assert box["y"] + box["height"] <= 844
    expect(counts).to_contain_text("better")
    expect(counts).to_contain_text("worse")
    chart = page.locator(".differences")
    assert chart.evaluate("figure => figure.scrollWidth - figure.clientWidth") <= 0
    bars = page.locator(".differences a.hit")
    expect(bars).to_have_count(12)
    for place in (bars.first.bounding_box(), bars.last.bounding_box()):
        assert place
        assert 0 <= place["x"] <= place["x"] + place["width"] <= 390
    expect(page.get_by_role("heading", name="Largest gains")).to_be_visible()
    assert violations(page) == []
