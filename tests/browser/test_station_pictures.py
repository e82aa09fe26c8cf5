"""Tests of pictures of documents: zoom, and a text when a picture fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from judgments.models import Document
from tests.browser.axe import violations
from tests.browser.station import list_of, mine, press, ready, title

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="600"><rect width="900" height="600"/></svg>'
COME = "() => [...document.querySelectorAll('.picture img')].filter((one) => one.naturalWidth).length"
# What moved since a moment; a busy machine may lay the page out in two steps before it.
SHIFTS = """(since) => new Promise((done) => {
    const moved = (list) => list.getEntries().filter((one) => one.startTime > since).map((one) => one.value);
    const watcher = new PerformanceObserver((list) => moved(list).length && done(moved(list)));
    watcher.observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done([]), 300);
})"""
GONE = "The picture can’t be loaded."


@dataclass
class Shop:
    """Where the pictures are: what it answers now, and who asked for what."""

    url: str = ""
    status: int = 200
    requested: list[tuple[str, str | None]] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving() -> Iterator[Shop]:
    shop = Shop()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shop.requested.append((self.path, self.headers["Referer"]))
            shop.open.wait(20)
            body = PICTURE if shop.status == 200 else b"none"
            self.send_response(shop.status)
            self.send_header("Content-Type", "image/svg+xml" if shop.status == 200 else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "max-age=600" if shop.status == 200 else "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shop.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield shop
    finally:
        shop.open.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def shop(open_round, settings) -> Iterator[Shop]:
    """Every document has a picture of its own."""
    settings.REMOTE_IMAGES = True
    with serving() as server:
        for document in Document.objects.all():
            document.image = f"{server.url}/{document.doc_id}.svg"
            document.save()
        yield server


def test_a_picture_that_comes_late_moves_nothing_and_grows_by_a_key(page, station, enter, open_round, rater, shop):
    enter(rater)
    page.emulate_media(reduced_motion="reduce")
    station(page, open_round)
    picture = page.locator(".picture img")
    assert picture.get_attribute("alt") == f"Picture of {title(page)}"
    before = picture.bounding_box()
    since = page.evaluate("performance.now()")
    shop.open.set()
    page.wait_for_function(COME)
    assert picture.bounding_box() == before
    assert page.evaluate(SHIFTS, since) == []
    assert {came for _, came in shop.requested} == {None}, "whose page it is shown on is nobody's concern"
    page.keyboard.press("f")
    large = picture.bounding_box()
    assert large["width"] > 3 * before["width"]
    assert violations(page) == []
    picture.click()
    assert picture.bounding_box() == before
    picture.click()
    press(page, "3")
    assert mine(rater).get().grade == 3
    # The next one is small again, and had been fetched before it was shown.
    assert picture.bounding_box() == before
    page.wait_for_function(COME)


def test_a_picture_that_fails_is_reported_and_requested_again(page, context, station, enter, open_round, rater, shop):
    shop.status = 404
    shop.open.set()
    enter(rater)
    page.set_viewport_size({"width": 390, "height": 844})
    station(page, open_round)
    words = page.locator(".picture")
    expect(words).to_have_text(GONE)
    expect(page.locator(".picture img")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page) == []
    press(page, "1")
    expect(words).to_have_text(GONE)
    context.set_offline(True)
    shop.status = 200
    context.set_offline(False)
    page.wait_for_function(COME)


def test_rows_of_a_list_have_them_too(page, live_server, enter, open_round, rater, shop):
    shop.open.set()
    gone = Document.objects.get(title="rain jacket 1")
    lacks = Document.objects.get(title="tent 1")
    for document in (gone, lacks):
        document.image = "http://127.0.0.1:9/nobody-listens.svg"
        document.save()
    enter(rater)
    page.goto(live_server.url + list_of(open_round))
    ready(page)
    expect(page.locator(".picture--none")).to_have_text(GONE)
    page.wait_for_function(COME)
    assert violations(page) == []
    assert "can’t you judge" not in page.locator("#list").inner_text(), "what a page without script asks"
    row = page.locator("li.short", has=page.locator("details.picture")).first
    row.locator("input").first.focus()
    small = row.locator("img").bounding_box()
    page.keyboard.press("f")
    assert row.locator("img").bounding_box()["width"] > 5 * small["width"]
    press(page, "2")
    assert mine(rater).count() == 1
