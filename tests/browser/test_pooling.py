"""Tests of the way from a log and runs to an open round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments.models import Query, Round
from tests.browser.axe import violations
from tests.pooling.clicks.example import LOG as CLICKS
from tests.pooling.conftest import BM25, LOG, NEURAL, QUERIES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def put(collection: Any, lead: Any) -> Callable[..., str]:
    """Store a file; answers the public id of what it became."""
    import io

    from judgments.imports import ingestion

    def store(kind: str, content: bytes, filename: str) -> str:
        upload = ingestion.receive(collection, kind=kind, file=io.BytesIO(content), filename=filename, actor=lead)
        return ingestion.store(upload, actor=lead).get("id", "")

    return store


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_fit_the_narrowest_screen(
    page: Any, live_server: Any, enter: Any, faults: list[str], collection: Any, lead: Any, put: Any, scheme: Any
) -> None:
    put("queries", QUERIES, "queries.csv")
    log, run = put("query-logs", LOG, "site.csv"), put("runs", BM25, "bm25.run")
    put("runs", NEURAL, "neural.run")
    clicks = put("clicks", CLICKS, "clicks.csv")
    query = Query.objects.get(query_id="q1").uuid
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 360, "height": 800})
    enter(lead)
    for path in (
        "query-logs/",
        f"query-logs/{log}/",
        "clicks/",
        "clicks/new/",
        f"clicks/{clicks}/",
        "runs/",
        f"runs/{run}/?query={query}",
        "pools/",
        "pools/new/",
        "pools/new/?strategy=list",
        "rounds/new/",
        "start/",
    ):
        page.goto(f"{live_server.url}/c/{collection.slug}/{path}")
        assert violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    assert faults == []


def test_from_runs_to_an_open_round(
    page: Any, live_server: Any, enter: Any, faults: list[str], collection: Any, lead: Any, put: Any
) -> None:
    put("queries", QUERIES, "queries.csv")
    put("runs", BM25, "bm25.run")
    put("runs", NEURAL, "neural.run")
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/pools/new/")
    page.get_by_label("Depth").fill("1")
    page.get_by_label("Depth").blur()
    page.get_by_role("button", name="Draw 2 pairs").click()
    page.get_by_role("link", name="Create round").click()
    page.get_by_label("rosa (rater)").uncheck()
    page.get_by_role("button", name="Open round for 2 raters").click()
    page.wait_for_url("**/progress/")
    assert Round.objects.get().state == "open"
    assert faults == []


def test_the_plan_of_a_draw_follows_the_form(
    page: Any, live_server: Any, enter: Any, collection: Any, lead: Any, put: Any
) -> None:
    log = put("query-logs", LOG, "site.csv")
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/query-logs/{log}/")
    page.get_by_label("Tail", exact=True).fill("2")
    page.get_by_label("Tail", exact=True).blur()
    page.get_by_role("button", name="Draw 5 queries").click()
    page.wait_for_url("**/queries/")
    assert Query.objects.count() == 5


def test_a_start_counts_while_one_types(page: Any, live_server: Any, enter: Any, collection: Any, lead: Any) -> None:
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/start/")
    page.get_by_label("Queries", exact=True).fill("rain jacket\ntent")
    page.get_by_role("button", name="Continue to results").click()
    page.get_by_label("rain jacket").fill("Fell 3L\nTarn poncho")
    page.get_by_role("button", name="Continue with 2 pairs").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/rate/")
    assert "Fell 3L" in page.content() or "Tarn poncho" in page.content()


def test_settings_stand_before_the_preview_which_updates_in_place(
    page: Any, live_server: Any, enter: Any, faults: list[str], collection: Any, lead: Any, put: Any
) -> None:
    put("queries", QUERIES, "queries.csv")
    put("runs", BM25, "bm25.run")
    put("runs", NEURAL, "neural.run")
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/pools/new/")
    form, plan = page.locator("#choose"), page.locator("#plan")
    assert form.bounding_box()["x"] < plan.bounding_box()["x"]
    page.evaluate("document.body.dataset.stays = 'yes'")
    page.get_by_label("Depth").fill("1")
    page.get_by_role("button", name="Draw 2 pairs").wait_for()
    assert faults == []
    page.get_by_role("checkbox", name="bm25").uncheck()
    page.get_by_role("checkbox", name="neural").uncheck()
    plan.get_by_role("alert").wait_for()
    assert page.evaluate("document.body.dataset.stays") == "yes"
    page.get_by_text("More strategies").click()
    assert violations(page) == []
    page.get_by_role("link", name="RBP weight").click()
    page.wait_for_url("**strategy=rbp")
    page.set_viewport_size({"width": 390, "height": 844})
    assert form.bounding_box()["y"] < plan.bounding_box()["y"]
