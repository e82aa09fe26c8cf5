"""Tests of the web worker: slow senders occupy no thread, and whole requests are answered as before."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from config import web_worker

THREADS = 2
LINE = b"POST / HTTP/1.1\r\nHost: a\r\n"


def echo(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    """Answer with the number of bytes of the body; `/unread` reads nothing."""
    size = int(environ.get("CONTENT_LENGTH") or 0) if environ["PATH_INFO"] == "/" else 0
    body = str(len(environ["wsgi.input"].read(size) if size else b"")).encode()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        command = [sys.executable, "-m", "gunicorn", f"{__name__}:echo", "--bind", f"fd://{listener.fileno()}"]
        command += ["--worker-class", "config.web_worker.WebWorker", "--threads", str(THREADS), "--keep-alive", "75"]
        process = subprocess.Popen(command, pass_fds=[listener.fileno()])
        try:
            yield listener.getsockname()[1]
        finally:
            process.terminate()
            process.wait(60)


def posted(port: int, size: int, path: str = "/", **headers: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        for _ in range(2):  # the second one on the same connection
            connection.request("POST", path, b"x" * size, headers)
            body = connection.getresponse().read().decode()
    finally:
        connection.close()
    return body


def until_closed(client: socket.socket) -> bytes:
    answer = b""
    with suppress(ConnectionResetError):  # where the server had not read everything
        while more := client.recv(1_000):
            answer += more
    return answer


@pytest.mark.parametrize("size", [0, 1, 1_000, 40_000, web_worker.BODY, web_worker.BODY + 1, 3_000_000])
def test_a_whole_request_is_answered(port: int, size: int) -> None:
    assert posted(port, size) == str(size)


def test_who_waits_for_leave_to_send_gets_it(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(LINE + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 100")
        client.sendall(b"12345")
        answer = b""
        while not answer.endswith(b"\r\n\r\n5"):
            answer += client.recv(1_000) or pytest.fail(repr(answer))


BEGINNINGS = (
    b"",
    b"POST",
    LINE,
    LINE + b"Content-Length: 60000\r\n\r\n",
    LINE + b"Content-Length: 60000\r\n\r\n" + b"x" * 30_000,
    LINE + b"content-length:10000000\r\n\r\nx",
    LINE + b"Content-Length: 60000\r\nExpect: 100-continue\r\n\r\n",
)


@pytest.mark.slow
def test_slow_senders_occupy_no_thread(port: int) -> None:
    assert posted(port, 1) == "1"  # the server has started
    with ExitStack() as stack:
        slow = [
            (beginning, stack.enter_context(socket.create_connection(("127.0.0.1", port), 60)))
            for beginning in BEGINNINGS
            for _ in range(20 * THREADS)
        ]
        for beginning, client in slow:
            client.sendall(beginning)
        begun = time.monotonic()
        assert posted(port, 5) == "5"
        for beginning, client in slow:
            client.sendall(b"x" if beginning else b"P")
        assert posted(port, 5) == "5"
        assert time.monotonic() - begun < web_worker.SECONDS
        for beginning, client in slow:
            assert until_closed(client) in (b"", b"HTTP/1.1 100 Continue\r\n\r\n"), beginning


def test_the_rest_of_an_unread_body_is_not_waited_for(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(b"POST /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n")
        assert until_closed(client).startswith(b"HTTP/1.1 200")


def test_a_head_without_an_end_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 60) as client, pytest.raises(OSError):  # noqa: PT012
        for _ in range(1_000):
            client.sendall(b"X-A: " + b"b" * 8_000 + b"\r\n")
            time.sleep(0.001)
