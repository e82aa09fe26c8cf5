"""Fixtures of the browser tests. They drive the machine's Chromium; without one they skip, and fail on CI."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.servers.basehttp import WSGIRequestHandler
from django.core.signals import request_finished, request_started
from playwright.sync_api import BrowserContext, Page, expect

# Playwright keeps an event loop in the thread of the test, and Django would refuse that thread its database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

# A page may take long on a machine that does much else; what it shows in the end is the question.
PATIENCE = 180_000
expect.set_options(timeout=PATIENCE)

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
SWITCHES = (
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "disable-dev-shm-usage",
)


def pytest_configure(config: pytest.Config) -> None:
    """The plugin that gives Playwright its base address declares a fixture in a way that pytest will drop."""
    warning = "Session-scoped fixtures defined as instance methods"
    config.addinivalue_line("filterwarnings", f"ignore:{warning}:pytest.PytestDeprecationWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a page need a browser: without one they skip by name, except where CI must have it."""
    if CHROMIUM or os.environ.get("CI") == "true":
        return
    for item in items:
        if "page" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="no Chromium: install it, or name it in CHROMIUM"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    launch_args = {"executable_path": CHROMIUM} if CHROMIUM else {}
    return {**browser_type_launch_args, **launch_args, "args": [f"--{switch}" for switch in SWITCHES]}


@pytest.fixture(scope="session", autouse=True)
def _answers_at_once() -> None:
    """Django's test server sends head and body apart: the second would wait 40 ms for a receipt of the first."""
    WSGIRequestHandler.disable_nagle_algorithm = True


@pytest.fixture(autouse=True)
def _heard_out(transactional_db: None) -> Iterator[None]:
    """When the pages of a test are closed, what they asked last is answered before its database is emptied."""
    changed = threading.Condition()
    open_now = 0

    def count(by: int) -> None:
        nonlocal open_now
        with changed:
            open_now += by
            changed.notify_all()

    def begun(**_: object) -> None:
        count(1)

    def ended(**_: object) -> None:
        count(-1)

    request_started.connect(begun)
    request_finished.connect(ended)
    yield
    with changed:
        heard_out = changed.wait_for(lambda: open_now == 0, timeout=PATIENCE / 1000)
    request_started.disconnect(begun)
    request_finished.disconnect(ended)
    assert heard_out, "a request has no end"


def leave(page: Page) -> None:
    """A page that is still asking would be told that nobody is logged in, and complain."""
    page.goto("about:blank")


@pytest.fixture
def context(context: BrowserContext) -> BrowserContext:
    """A browser that may take as long as what it shows."""
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture
def log_in(page: Any, live_server: Any) -> Callable[[Any], None]:
    """``log_in(user)``: through the log-in page, as people do; whoever was logged in before is gone."""

    def enter(user: Any) -> None:
        leave(page)
        page.context.clear_cookies()
        page.goto(f"{live_server.url}/login/")
        page.get_by_label("User name").fill(user.username)
        page.get_by_label("Password").fill("pass")
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(f"{live_server.url}/")

    return enter


@pytest.fixture
def enter(page: Any, live_server: Any, client_of: Callable[[Any], Any]) -> Callable[[Any], None]:
    """``enter(user)``: log in without the log-in page, which has its own tests; ``enter(None)``: log out."""

    def enter_as(user: Any) -> None:
        leave(page)
        page.context.clear_cookies()
        if user is not None:
            session = client_of(user).cookies["sessionid"].value
            page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])

    return enter_as


@pytest.fixture
def faults(page: Any) -> list[str]:
    """What the browser complained about: errors of scripts, and things that the policy refused."""
    messages: list[str] = []
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("console", lambda message: messages.append(message.text) if message.type == "error" else None)
    return messages


@pytest.fixture
def open_round(collection: Any, lead: Any, rater: Any, rater2: Any) -> Any:
    """Two queries with six documents each, for two raters."""
    from tests.browser.station import make_round

    return make_round(collection, lead, [rater, rater2])


@pytest.fixture
def station(live_server: Any) -> Callable[..., Any]:
    """``station(page, round_)``: the station on this page, with documents fetched ahead."""
    from django.urls import reverse

    from tests.browser.station import answered, ready

    def opened(page: Any, round_: Any, query: str = "") -> Any:
        with answered(page, lambda request: "/rate/next/" in request.url) as fetched:
            page.goto(live_server.url + reverse("rate", args=[round_.uuid]) + query)
        fetched.value.finished()  # until then the page has no more than the first lines of it
        ready(page)
        return page

    return opened


@pytest.fixture
def listed(live_server: Any) -> Callable[..., Page]:
    """``listed(page, round_)``: the documents of a query as a list on this page."""
    from tests.browser.station import list_of, ready

    def opened(page: Page, round_: Any) -> Page:
        page.goto(live_server.url + list_of(round_))
        ready(page)
        return page

    return opened


@pytest.fixture
def go(page: Any, live_server: Any) -> Callable[..., Any]:
    """``go("rate", round_)``: open a page by its name."""
    from django.urls import reverse

    return lambda name, *rows: page.goto(live_server.url + reverse(name, args=[row.uuid for row in rows]))
