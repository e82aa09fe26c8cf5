"""Tests of the examples of docs/api.md: every call, in order, in a real shell against a real server."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.docs import shell
from tests.docs.example_servers import engine_serving, model_answer
from tests.model_server import serving

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "api.md"
NEEDED = [name for name in ("bash", "curl") if shutil.which(name) is None]
Started = Callable[[dict[str, str]], str]


@pytest.fixture
def start_server(own_var: Path) -> Iterator[Started]:
    """``start_server(settings)``: the demo's server with a worker, as `make run` starts it; answers its address."""
    with ExitStack() as stack:

        def start(settings: dict[str, str]) -> str:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            log = stack.enter_context((own_var / "server.log").open("w"))
            process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--demo", "--port", str(port)],
                cwd=ROOT,
                env=environment(DEBUG="1", **settings),
                stdout=log,
                stderr=log,
            )
            stack.callback(process.wait, timeout=60)
            stack.callback(process.terminate)
            wait_until_it_answers(f"http://127.0.0.1:{port}", process, own_var / "server.log")
            return f"http://127.0.0.1:{port}"

        yield start


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


@pytest.mark.slow
@pytest.mark.skipif(bool(NEEDED), reason=f"the examples need {' and '.join(NEEDED)}")
def test_every_example_of_the_api_page_runs_in_order(own_var: Path, start_server: Started) -> None:
    script = shell.examples(PAGE.read_text(encoding="utf-8"))
    folder = own_var / "assay"
    folder.mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "manage.py").symlink_to(ROOT / "manage.py")
    settings = dict(re.findall(r"(\w+)=(\S+)", script.partition("export SERVER=")[0]))
    settings["ASSAY_VAR"] = str(own_var)
    with serving(model_answer) as model, engine_serving() as engine:
        places = {"ASSAY_VAR": str(own_var), "SERVER": start_server(settings)}
        places |= {"ENGINE_URL": engine.url, "MODEL_URL": f"{model.url}/v1"}
        for name, place in places.items():
            script, replaced = re.subn(rf"^export {name}=\S+", f"export {name}={place}", script, flags=re.M)
            assert replaced == 1, f"the page says once where {name} is"
        outcomes = shell.run(script, folder=folder, environment=environment(), seconds=1200)
    failed = [str(one) for one in outcomes if one.failed]
    assert not failed, f"{len(failed)} lines of {PAGE.name} failed, the first of them:\n\n" + "\n\n".join(failed[:5])
