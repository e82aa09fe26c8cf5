"""Tests of the station when the server is unavailable or the browser cannot store judgments."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Page, expect

from judgments.models import Membership
from tests.browser.axe import violations
from tests.browser.station import mine, press, quick, ready, stand_still, stored_notice, title

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# What a browser does that is told to keep nothing.
REFUSED = "IDBFactory.prototype.open = () => { throw new DOMException('Not allowed here.', 'SecurityError'); };"
OPEN = "stored while this page is open"


class Gateway:
    """A server before the server, as most are reached through one: it hands on, or says 503 in HTML."""

    def __init__(self, behind: str) -> None:
        self.behind = urlsplit(behind).netloc
        self.out = {"/judgments/": 0, "/rate/next/": 0}  # so many requests more are met with 503
        self.submitted: list[list[str]] = []  # the ids in each list of answers that came
        self.url = ""

    def accepts(self, path: str, body: bytes) -> bool:
        """Whether to hand it on."""
        if path.endswith("/judgments/"):
            self.submitted.append([one["client_id"] for one in json.loads(body)])
        for end in self.out:
            if path.endswith(end) and self.out[end]:
                self.out[end] -= 1
                return False
        return True


@pytest.fixture
def gateway(live_server: Any) -> Iterator[Gateway]:
    gate = Gateway(live_server.url)

    class Handler(BaseHTTPRequestHandler):
        def handed(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if not gate.accepts(self.path, body):
                return self.reply(503, [("Content-Type", "text/html")], b"<h1>503 Service Unavailable</h1>")
            with closing(HTTPConnection(gate.behind)) as behind:
                behind.request(self.command, self.path, body, dict(self.headers.items()))
                answer = behind.getresponse()
                response = answer.status, answer.getheaders(), answer.read()
            return self.reply(*response)

        def do_GET(self) -> None:
            self.handed()

        def do_POST(self) -> None:
            self.handed()

        def do_HEAD(self) -> None:
            self.handed()

        def reply(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    gate.url = f"http://localhost:{server.server_port}"
    yield gate
    server.shutdown()
    server.server_close()


def leaving(page: Page) -> str:
    """What the browser asks of who closes the tab; they stay."""
    with page.expect_event("dialog") as dialog:
        page.close(run_before_unload=True)
    kind = dialog.value.type
    dialog.value.dismiss()
    return kind


def waiting(page: Page, address: str) -> None:
    """A page whose waits are ours to let go by."""
    stand_still(page)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.clock.run_for(500)
    ready(page)


def test_requests_to_an_unavailable_server_are_retried_with_backoff(page, enter, open_round, rater, gateway):
    enter(rater)
    waiting(page, gateway.url + reverse("rate", args=[open_round.uuid]))
    gateway.out["/judgments/"] = 2
    with page.expect_response(lambda answer: answer.status == 503):
        page.keyboard.press("2")
    expect(stored_notice(page)).to_contain_text("1 unsent: the server does not respond. It is stored in this browser")
    # A second, give or take a quarter; then two.
    with page.expect_response(lambda answer: answer.status == 503):
        page.clock.run_for(1300)
    expect(stored_notice(page)).to_contain_text("1 unsent")
    page.clock.run_for(1400)
    assert not mine(rater).exists()
    with page.expect_response(lambda answer: "/judgments/" in answer.url and answer.ok):
        page.clock.run_for(1200)
    expect(stored_notice(page)).to_be_hidden()
    assert mine(rater).get().grade == 2
    assert len(gateway.submitted) == 3
    assert len({one for ids in gateway.submitted for one in ids}) == 1, "one answer, whatever it took"


def test_requests_for_documents_are_retried_too(page, enter, open_round, rater, gateway):
    enter(rater)
    gateway.out["/rate/next/"] = 2
    waiting(page, gateway.url + reverse("rate", args=[open_round.uuid]))
    first = title(page)
    press(page, "2")
    expect(page.get_by_role("heading", name="The server does not respond")).to_be_visible()
    with page.expect_response(lambda answer: "/rate/next/" in answer.url and answer.ok):
        page.clock.run_for(5000)
    expect(page.locator("#shown h2")).to_have_text(re.compile("rain jacket|tent"))
    page.clock.run_for(500)
    assert title(page) != first
    press(page, "1")
    assert mine(rater).count() == 2


def test_without_browser_storage_answers_last_while_the_page_is_open(
    page, context, station, enter, open_round, rater, faults
):
    enter(rater)
    page.add_init_script(REFUSED)
    station(page, open_round)
    press(page, "1")
    context.set_offline(True)
    quick(page, "230")
    page.keyboard.press("z")
    expect(stored_notice(page)).to_contain_text(f"2 unsent: no connection. They are {OPEN}")
    assert leaving(page) == "beforeunload"
    context.set_offline(False)
    expect(stored_notice(page)).to_be_hidden()
    assert sorted(mine(rater).values_list("grade", flat=True)) == [1, 2, 3]
    # The session ends: whoever logs in does so beside the page that holds the answer.
    Session.objects.all().delete()
    quick(page, "0")
    expect(stored_notice(page)).to_contain_text(f"1 unsent: your session has ended. It is {OPEN}")
    assert violations(page) == []
    with page.expect_popup() as beside:
        stored_notice(page).get_by_role("link", name="Log in").click()
    beside.value.get_by_label("User name").fill(rater.username)
    beside.value.get_by_label("Password").fill("pass")
    beside.value.get_by_role("button", name="Log in").click()
    beside.value.wait_for_url(lambda url: "/login/" not in url)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(stored_notice(page)).to_be_hidden()
    assert sorted(mine(rater).values_list("grade", flat=True)) == [0, 1, 2, 3]
    assert [fault for fault in faults if "Not allowed here" in fault] == []


def test_refused_answers_are_not_lost_without_browser_storage(page, station, enter, open_round, rater, collection):
    enter(rater)
    page.add_init_script(REFUSED)
    station(page, open_round)
    membership = Membership.objects.get(user=rater, collection=collection)
    membership.delete()
    press(page, "2")
    stored_notice(page).get_by_role("button", name="View answers").click()
    expect(page.locator("#refused-box")).to_contain_text("while this page is open")
    assert leaving(page) == "beforeunload"
    Membership.objects.create(user=rater, collection=collection, role=membership.role)
    page.get_by_role("button", name="Send again").click()
    expect(stored_notice(page)).to_be_hidden()
    assert mine(rater).get().grade == 2
