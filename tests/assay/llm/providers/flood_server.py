"""A server on this machine whose answers have no end, or hardly one; it counts what it got rid of."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MB = 1_000_000
WHOLE = 100 * MB
BLOCK = b" " * 64_000


@dataclass
class Flood:
    """What is answered, and what left: ``packed`` sends the same hundred megabytes as gzip."""

    status: int = 200
    packed: bool = False
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    request_count: int = 0
    left: int = 0
    url: str = ""


@contextmanager
def flooding(flood: Flood) -> Iterator[Flood]:
    """Serve until the block ends."""
    zipped = gzip.compress(b" " * WHOLE, 1) if flood.packed else b""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            flood.request_count += 1
            self.send_response(flood.status)
            for name, value in flood.headers:
                self.send_header(name, value)
            if flood.packed:
                self.send_header("Content-Encoding", "gzip")
            whole = flood.body if flood.body is not None else zipped
            self.send_header("Content-Length", str(len(whole) or WHOLE))
            self.end_headers()
            if whole:
                self.wfile.write(whole)
                return
            for _ in range(0, WHOLE, len(BLOCK)):
                self.wfile.write(BLOCK)
                flood.left += len(BLOCK)

        def log_message(self, *arguments: Any) -> None:
            """Quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that has had enough."""

    with Server(("127.0.0.1", 0), Handler) as listening:
        flood.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield flood
        finally:
            listening.shutdown()
            thread.join()
