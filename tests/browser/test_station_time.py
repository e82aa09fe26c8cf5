"""Tests of recorded viewing times and absences.

In a Chromium of its own: the one that Playwright starts takes every tab for the one in front. The page's stopwatch
stands still and is moved by hand, so that the seconds are exact.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page
from playwright.sync_api import Error as PlaywrightError

from judgments.models import Judgment
from tests.browser.conftest import CHROMIUM, PATIENCE, SWITCHES
from tests.browser.station import press, ready, stand_still

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


# A Chromium is given so many seconds to answer; one that does not is given up for another, so many times.
START, STARTS = 60, 3


@pytest.fixture
def tabs(playwright: Any, tmp_path: Path) -> Iterator[BrowserContext]:
    """A window with tabs of which one is in front and the others are hidden, as people have it."""
    chromium = CHROMIUM or playwright.chromium.executable_path
    if not Path(chromium).exists() and os.environ.get("CI") != "true":
        pytest.skip("no Chromium: install it, or name it in CHROMIUM")
    for number in range(STARTS):
        with _running(chromium, tmp_path / str(number)) as port:
            try:
                browser = playwright.chromium.connect_over_cdp(
                    f"http://127.0.0.1:{port()}", no_defaults=True, timeout=START * 1000
                )
            except PlaywrightError:
                # Now and then a Chromium never answers who connects to it while it begins.
                if number + 1 == STARTS:
                    raise
                continue
            browser.contexts[0].set_default_timeout(PATIENCE)
            yield browser.contexts[0]
            browser.close()
            return


@contextmanager
def _running(chromium: str, folder: Path) -> Iterator[Callable[[], str]]:
    """A Chromium without a window, which ends with the block; what is given waits for its port."""
    own = ("headless=new", "remote-debugging-port=0", "no-startup-window", f"user-data-dir={folder}")
    port_file = folder / "DevToolsActivePort"
    with subprocess.Popen([chromium, *(f"--{one}" for one in (*SWITCHES, *own))], stderr=subprocess.DEVNULL) as process:

        def port() -> str:
            last = monotonic() + START
            while not (port_file.exists() and len(port_file.read_text().split()) == 2):
                if process.poll() is not None or monotonic() > last:
                    raise PlaywrightError("Chromium has ended, or tells no port")
                sleep(0.05)
            return port_file.read_text().split()[0]

        try:
            yield port
        finally:
            process.kill()


class Rating:
    """A rater at the station whose stopwatch stands still, with another tab beside it."""

    def __init__(self, tabs: BrowserContext, address: str) -> None:
        self.page: Page = tabs.new_page()
        self.other = tabs.new_page()
        self.page.bring_to_front()
        stand_still(self.page)
        self.page.goto(address)
        self.page.wait_for_load_state("networkidle")  # the next documents are there
        self.shown()

    def spend(self, seconds: float) -> None:
        self.page.clock.run_for(round(seconds * 1000))

    def shown(self) -> None:
        """What is on the screen can be graded after a quarter of a second."""
        self.spend(0.5)
        ready(self.page)

    def leave(self, seconds: float) -> None:
        self.other.bring_to_front()
        self.page.wait_for_function("() => document.visibilityState === 'hidden'", polling=50)
        self.spend(seconds)
        self.page.bring_to_front()
        self.page.wait_for_function("() => document.visibilityState === 'visible'", polling=50)

    def press(self, key: str) -> Judgment:
        """What the server has of the key's answer."""
        press(self.page, key)
        return Judgment.objects.latest("pk")


@pytest.fixture
def rating(tabs, live_server, client_of, open_round, rater):
    session = client_of(rater).cookies["sessionid"].value
    tabs.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    return lambda query="": Rating(tabs, live_server.url + reverse("rate", args=[open_round.uuid]) + query)


def spent(judgment: Judgment) -> tuple[float | None, float | None]:
    return judgment.seconds_active, judgment.seconds_away


def test_a_hidden_tab_is_away_and_coming_back_is_not(rating):
    rater = rating()
    rater.spend(9.5)
    rater.leave(60)
    rater.spend(5)
    assert spent(rater.press("2")) == (15, 60)
    # Somebody who comes back reads, although nothing moves: for half a minute as at any time.
    rater.shown()
    rater.leave(600)
    rater.spend(20)
    assert spent(rater.press("1")) == (20.5, 600)
    # Gone for less than half a minute is gone all the same.
    rater.shown()
    rater.leave(20.2)
    assert spent(rater.press("0")) == (0.5, 20.2)


def test_nothing_moves_for_long_and_what_comes_back_counts_on(rating):
    rater = rating()
    rater.spend(99.5)
    rater.page.mouse.move(300, 300)
    rater.spend(4)
    first = rater.press("3")
    assert spent(first) == (34, 70)
    rater.shown()
    rater.spend(1)
    rater.press("z")
    rater.shown()
    rater.spend(2.5)
    again = rater.press("1")
    assert (again.pair, spent(again)) == (first.pair, (37, 70))


def test_each_row_of_a_list_has_the_time_since_the_one_before(rating):
    rater = rating("?mode=list")
    rater.spend(5.5)
    assert spent(rater.press("2")) == (6, 0)
    rater.leave(45)
    rater.spend(3)
    assert spent(rater.press("1")) == (3, 45)
