"""Tests of the connection: what it keeps in memory."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from assay.client.connection import Connection

SIZE = 1 << 20


class Discarding(BaseHTTPRequestHandler):
    """Reads a body piece by piece, and answers with its size."""

    def do_PATCH(self) -> None:
        left = size = int(self.headers["Content-Length"])
        while left:
            left -= len(self.rfile.read(min(left, 1 << 14)))
        body = str(size).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def connection() -> Iterator[Connection]:
    with HTTPServer(("127.0.0.1", 0), Discarding) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        made = Connection(f"http://127.0.0.1:{server.server_port}", "token")
        yield made
        made.close()
        server.shutdown()


def test_sent_chunks_are_not_kept(connection: Connection) -> None:
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(8):
            assert connection.json("PATCH", "uploads/", content=bytes(SIZE)) == SIZE
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()
    assert kept < 2 * SIZE
