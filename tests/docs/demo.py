"""The demo's server as its users start it, for tests that follow a page of the documentation."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def demo_server(log: Path, settings: dict[str, str]) -> Iterator[str]:
    """Run the demo's server with a worker, as ``make run`` starts it, on a free port; give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "manage.py", "serve", "--demo", "--port", str(port)]
    with log.open("w") as stream:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment(DEBUG="1", **settings), stdout=stream, stderr=stream
        )
        try:
            wait_until_it_answers(f"http://127.0.0.1:{port}", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=60)


def environment(**more: str) -> dict[str, str]:
    """The variables of a process that keeps its data apart and reaches servers on this machine directly."""
    path = os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ.get("PATH", "")])
    apart = {"DATABASE_URL": "", "REDIS_URL": "", "STORAGE_URL": "", "NO_PROXY": "127.0.0.1", "PATH": path}
    return {**os.environ, **apart, **more}


def wait_until_it_answers(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 300
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), opener.open(f"{address}/login/", timeout=10):
            return
        time.sleep(0.2)
    pytest.fail(f"the server did not start: {log.read_text()}")
