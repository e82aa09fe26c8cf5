"""Time from a key press to the painted next document on the rating station, over a slow connection.

    python benchmarks/station_paint.py [--only paint|answers] [--reps N] [--quick] [--json FILE]

A real server and a real Chromium, in which every request waits for 200 ms. 240 documents, one in four of them long,
are graded by key as fast as the station's own guard allows. Two clocks are read for each key, and the later one
counts:

* from the time stamp of the key until the task after the frame that contains the next document, measured in the page:
  a frame callback checks the document, and a message sent from it arrives once that frame is on its way;
* the browser's own Event Timing entry for the key, which ends with the presented frame, in steps of 8 ms.

`paint` grades documents, `answers` grades answers of RAG systems with five passages of evidence each. The ratio is
the 95th percentile over 50 ms.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from first_run import free_port
from side_by_side.processes import ROOT, CouldNotRun, child
from side_by_side.rows import Row, options, print_table

LIMIT, DELAY = 50.0, 200
DOCUMENTS, FEW = 240, 40
WORD = {"paint": "document", "answers": "answer"}
# Read in the page: what is asked for each key, and the browser's own entries.
WATCH = """() => {
  window.waits = [];
  window.entries = new Map();
  new PerformanceObserver((list) => {
    const keys = list.getEntries().filter((one) => one.name === 'keydown');
    for (const one of keys) entries.set(Math.round(one.startTime), one.duration);
  }).observe({ type: 'event', durationThreshold: 16, buffered: false });
  addEventListener('keydown', (event) => {
    const before = document.querySelector('#shown article');
    requestAnimationFrame(() => {
      const after = document.querySelector('#shown article');
      const { port1, port2 } = new MessageChannel();
      const at = event.timeStamp;
      port1.onmessage = () => waits.push({ at, wait: performance.now() - at, next: before !== after });
      port2.postMessage('');
    });
  }, { capture: true });
}"""
READ = """() => waits.map(({ at, wait, next }) => ({ wait, next, told: entries.get(Math.round(at)) ?? 0 }))"""


def main() -> int:
    """Measure the cases asked for."""
    cases = {kind: partial(rows, kind) for kind in ("paint", "answers")}
    return print_table(cases, options(__doc__, cases).parse_args())


def rows(kind: str, args: argparse.Namespace) -> Iterator[Row]:
    """One row: the percentile of every repetition over the limit."""
    count = FEW if args.quick else DOCUMENTS
    measurements = [measured(kind, count) for _ in range(args.reps or 1)]
    middle, high, input_delay = (sum(one[place] for one in measurements) / len(measurements) for place in range(3))
    summary = (
        f"p50 {middle:.0f} ms, p95 {high:.0f} ms ({input_delay:.0f} ms by Event Timing), {count - 2} keys, "
        f"{DELAY} ms of network delay"
    )
    limit = None if args.quick else 1.0
    yield Row(
        f"key to next {WORD[kind]} painted, p95",
        f"{LIMIT:.0f} ms",
        [one[1] / LIMIT for one in measurements],
        limit,
        None,
        summary,
    )


def measured(kind: str, count: int) -> tuple[float, float, float]:
    """The median and the 95th percentile of the waits, and the percentile by the browser's own entries alone."""
    folder = Path(tempfile.mkdtemp(prefix="assay-station-"))
    try:
        with server(folder, kind, count) as address:
            waits = graded(address, count - 2)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if len(waits) < count - 2 or not all(one["next"] for one in waits):
        shown = sum(one["next"] for one in waits)
        raise CouldNotRun(f"of {count - 2} keys {shown} brought the next document in the very next frame")
    both = sorted(max(one["wait"], one["told"]) for one in waits)
    delays = sorted(max(one["told"], 16) for one in waits)
    return at(both, 0.5), at(both, 0.95), at(delays, 0.95)


def at(values: list[float], share: float) -> float:
    """The value that so large a share of all does not exceed."""
    return values[min(int(len(values) * share), len(values) - 1)]


@contextmanager
def server(folder: Path, kind: str, count: int) -> Iterator[str]:
    """A server of our own over a database of its own; yields the station's address."""
    port = free_port()
    environment = {
        **os.environ,
        "ASSAY_VAR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
        "DEBUG": "1",
        "PYTHONPATH": str(ROOT),
    }
    run = {"cwd": ROOT, "env": environment, "check": True, "capture_output": True, "text": True}
    try:
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], **run)
        path = subprocess.run(list(map(str, child("long_round", str(count), WORD[kind]))), **run).stdout.split()[-1]
    except subprocess.CalledProcessError as error:
        raise CouldNotRun(error.stderr.strip().splitlines()[-1]) from error
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}", "--threads", "4"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/login/", process)
        yield f"http://127.0.0.1:{port}{path}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    """Until the server answers."""
    for _ in range(600):
        if process.poll() is not None:
            raise CouldNotRun(f"the server ended with status {process.returncode}")
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise CouldNotRun("the server did not answer")


def graded(address: str, count: int) -> list[dict[str, Any]]:
    """Grade so many documents by key; answers what was read for each."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise CouldNotRun("Playwright is not installed; pip install -e '.[test]'") from error
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        except Error as error:
            raise CouldNotRun("there is no Chromium: install it, or name it in CHROMIUM") from error
        page = browser.new_page()
        line = page.context.new_cdp_session(page)
        line.send("Network.enable")
        slow = {"offline": False, "latency": DELAY, "downloadThroughput": -1, "uploadThroughput": -1}
        line.send("Network.emulateNetworkConditions", slow)
        page.goto(address)
        page.get_by_label("User name").fill("rater")
        page.get_by_label("Password").fill("a long password")
        with page.expect_response(lambda answer: "/rate/next/" in answer.url):
            page.get_by_role("button", name="Log in").click()
        page.wait_for_selector("html[data-ready]")
        page.evaluate(WATCH)
        for number in range(count):
            page.wait_for_selector("html[data-ready]")
            page.keyboard.press(str(number % 3))
        page.wait_for_timeout(500)
        entries: list[dict[str, Any]] = page.evaluate(READ)
        browser.close()
    return entries


if __name__ == "__main__":
    sys.exit(main())
