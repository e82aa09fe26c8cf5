"""Fixtures of the MCP tests: the SDK's own client, connected to ``assay mcp`` in this process or another one.

The SDK takes a second to import and is imported only where these tests run, not by every worker that collects them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anyio.from_thread import start_blocking_portal

from assay.mcp.connections import Connections
from assay.mcp.server import build
from tests import worked_example as example
from tests.assay.client.conftest import no_login, token_of  # noqa: F401 - fixtures
from tests.faulty_proxy import FaultyProxy, faulty_proxy

if TYPE_CHECKING:
    from mcp import Client

ROOT = Path(__file__).resolve().parents[3]
WORDS = ["-m", "assay", "mcp"]
# A run with a document that nobody judged.
THIRD = "q1 Q0 new 1 3.0 third\nq1 Q0 d2 2 2.0 third\nq1 Q0 d1 3 1.0 third\n"
Session = Callable[..., AbstractContextManager["Agent"]]


class Agent:
    """A session of the SDK's client; it remembers the calls and all that was answered."""

    def __init__(self, call: Callable[[str, dict[str, Any]], Any], tools: list[Any]) -> None:
        self._call, self.tools = call, tools
        self.calls: list[str] = []
        self.texts: list[str] = []

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool, which must not be an error."""
        failed, text = self.attempt(tool, **arguments)
        assert not failed, text
        answer: dict[str, Any] = json.loads(text)
        return answer

    def error(self, tool: str, **arguments: Any) -> str:
        """The message of a tool that fails as it should: with a sentence, and not by an unexpected exception."""
        failed, text = self.attempt(tool, **arguments)
        assert failed, text
        assert "Traceback" not in text
        assert text != f"Error executing tool {tool}"
        return text

    def attempt(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        self.calls.append(tool)
        result = self._call(tool, arguments)
        text = "".join(part.text for part in result.content)
        self.texts.append(text)
        return result.is_error, text


@asynccontextmanager
async def over_http(url: str, token: str) -> AsyncIterator[Client]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60, verify=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(folder: Path, words: list[str], environment: dict[str, str]) -> AsyncIterator[Client]:
    from mcp import Client, StdioServerParameters, stdio_client

    process = StdioServerParameters(command=sys.executable, args=[*WORDS, *words], cwd=folder, env=environment)
    with (folder / "stderr").open("w") as log:
        async with Client(stdio_client(process, errlog=log)) as client:
            yield client


@contextmanager
def running(connected: Any) -> Iterator[Agent]:
    """A session for code that is not asynchronous; a failure of that code is raised as it is, in no group."""
    failure: Exception | None = None
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(connected) as client:
        tools = portal.call(client.list_tools).tools
        try:
            yield Agent(lambda name, arguments: portal.call(client.call_tool, name, arguments), tools)
        except Exception as error:
            failure = error
    if failure is not None:
        raise failure


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder whose files the tools may read."""
    made = tmp_path_factory.mktemp("files")
    (made.parent / "outside.run").write_text(THIRD)
    for name, content in (("third.run", THIRD), ("bm25.run", example.BM25), ("qrels.txt", "q1 0 d1 3\nq1 0 d2 0\n")):
        (made / name).write_text(content)
    return made


def environment_of(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


@contextmanager
def http_server(server: str, home: Path, *words: str, **more: str) -> Iterator[str]:
    """The address of ``assay mcp --http`` at a free port."""
    command = [sys.executable, *WORDS, "--http", "--port", "0", "--server", server, *words]
    environment = environment_of(home) | more
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            first = process.stderr.readline()
            assert first.startswith("assay mcp: http://127.0.0.1:"), first
            yield first.split()[-1]
        finally:
            process.terminate()
            process.wait()


@pytest.fixture(scope="session")
def proxy_of_all(live_server: Any) -> Iterator[FaultyProxy]:
    with faulty_proxy(live_server.url) as running:
        yield running


@pytest.fixture
def proxy(proxy_of_all: FaultyProxy) -> FaultyProxy:
    """The proxy between the MCP server and the Assay server, with no faults and no requests yet."""
    proxy_of_all.faults, proxy_of_all.requests = [], []
    return proxy_of_all


@pytest.fixture(scope="session")
def url_of_all(proxy_of_all: FaultyProxy, folder: Path) -> Iterator[str]:
    """A server over HTTP for all tests, because its start takes longer than most of them."""
    words = ["--collection", "shop", "--folder", str(folder)]
    allowed = ["--allowed-host", "mcp.example.com", "--allowed-origin", "https://app.example.com"]
    with http_server(proxy_of_all.url, folder, *words, *allowed) as url:
        yield url


@pytest.fixture
def mcp_url(url_of_all: str, proxy: FaultyProxy) -> str:
    """A server over HTTP in front of the test's Assay server."""
    return url_of_all


@pytest.fixture
def agent_of(mcp_url: str, token_of: Callable[[Any], str]) -> Session:  # noqa: F811
    """A session with a user's token over HTTP."""
    return lambda user: running(over_http(mcp_url, token_of(user)))


def in_process(connections: Connections) -> AbstractContextManager[Agent]:
    """A session with a server in this process."""
    from mcp import Client

    return running(Client(build(connections)))
