"""How long does a newcomer wait: from a bare clone to the demo's log-in page, and at every start after that?

    python benchmarks/first_run.py

Clones this checkout into a temporary folder, calls ``make run`` twice, and prints each wait as a ratio to its limit.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLD_LIMIT, WARM_LIMIT = 180.0, 5.0
WARM_STARTS = 3


def main() -> None:
    """Print one line for the first start and one for the later ones."""
    folder = Path(tempfile.mkdtemp(prefix="assay-first-run-"))
    try:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "clone")], check=True)
        cold = wait_for_start(folder / "clone")
        warm = [wait_for_start(folder / "clone") for _ in range(WARM_STARTS)]
        told("first start of a bare clone", cold, COLD_LIMIT)
        told(f"later starts, median of {WARM_STARTS}", statistics.median(warm), WARM_LIMIT)
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
                raise SystemExit(f"make run ended with status {process.returncode}")
            time.sleep(0.05)
        raise SystemExit("make run did not answer")
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


def told(what: str, seconds: float, limit: float) -> None:
    """One line: the ratio first, since absolute times are only good on one machine."""
    print(f"{what:<36} {seconds / limit:5.2f} of the limit   ({seconds:6.1f} s, limit {limit:.0f} s)")


if __name__ == "__main__":
    main()
