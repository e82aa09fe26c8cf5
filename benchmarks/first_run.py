"""Time from a bare clone to the demo's log-in page, for the first start and for later starts.

    python benchmarks/first_run.py [--reps N] [--json FILE]

Clones this checkout into a temporary folder, runs ``make run`` there repeatedly, and reports each wait as a share of
its limit.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from side_by_side.processes import CouldNotRun
from side_by_side.rows import Row, options, print_table

ROOT = Path(__file__).resolve().parent.parent
COLD_LIMIT, WARM_LIMIT = 180.0, 5.0
WARM_STARTS = 3


def main() -> int:
    """Measure both kinds of start."""
    return print_table({"starts": rows}, options(__doc__, ["starts"]).parse_args())


def rows(args: argparse.Namespace) -> Iterator[Row]:
    """One row for the first start and one for the later ones."""
    folder = Path(tempfile.mkdtemp(prefix="assay-first-run-"))
    try:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "clone")], check=True)
        yield timing_row("first start of a bare clone", [wait_for_start(folder / "clone")], COLD_LIMIT)
        warm = [wait_for_start(folder / "clone") for _ in range(args.reps or WARM_STARTS)]
        yield timing_row("later starts", warm, WARM_LIMIT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def wait_for_start(clone: Path) -> float:
    """Seconds from ``make run`` until the log-in page answers."""
    port = free_port()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ASSAY_", "DJANGO_"))}
    began = time.monotonic()
    process = subprocess.Popen(
        ["make", "run"],
        cwd=clone,
        env={**environment, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while time.monotonic() - began < 2 * COLD_LIMIT:
            if answers(port):
                return time.monotonic() - began
            if process.poll() is not None:
                raise CouldNotRun(f"make run ended with status {process.returncode}")
            time.sleep(0.05)
        raise CouldNotRun("make run did not answer")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def answers(port: int) -> bool:
    """Whether the log-in page is there."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/login/", timeout=5).close()
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
    return True


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def timing_row(what: str, seconds: list[float], limit: float) -> Row:
    """One row: a share of the limit, since absolute times are only good on one machine."""
    measured = f"{statistics.median(seconds):.1f} s, {len(seconds)}x"
    return Row(what, f"the limit of {limit:.0f} s", [one / limit for one in seconds], 1.0, None, measured)


if __name__ == "__main__":
    sys.exit(main())
