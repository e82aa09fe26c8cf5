"""A real HTTP proxy in front of a server that misbehaves on request: errors, HTML, half bodies, closed connections."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

# "error" and "slow-down" are answers of the server, "html" is one of a proxy in between. With "closed" the request
# never arrives, with "lost" the server handles it but its answer never arrives, with "half" half of it arrives.
BROKEN = b'{"error": {"code": "our_mistake", "message": "Broken.", "fields": {}}}'
FAULTS = ("error", "slow-down", "html", "closed", "lost", "half")


class FaultyProxy:
    """A proxy whose next requests fail as listed in ``faults``: pairs of a part of the request line and a fault."""

    def __init__(self, target: str) -> None:
        self.faults: list[tuple[str, str]] = []
        self.requests: list[str] = []
        self.received = 0
        parts = urlsplit(target)
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                """Print nothing."""

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                line = f"{self.command} {self.path}"
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                proxy.requests.append(line)
                self.answer(body, proxy.fault_of(line))
                self.close_connection = True

            def answer(self, body: bytes, fault: str) -> None:
                if fault == "error":
                    return self.reply(500, BROKEN, {})
                if fault == "slow-down":
                    return self.reply(429, b"", {"Retry-After": "0"})
                if fault == "html":
                    return self.reply(200, b"<html><body>Please log in</body></html>", {"Content-Type": "text/html"})
                if fault == "closed":
                    return None
                proxy.received += len(body)
                connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                connection.request(self.command, self.path, body or None, headers)
                response = connection.getresponse()
                content = response.read()
                connection.close()
                if fault == "lost":
                    return None
                kept = {
                    name: value
                    for name, value in response.getheaders()
                    if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server")
                }
                return self.reply(response.status, content, kept, half=fault == "half")

            def reply(self, status: int, content: bytes, headers: dict[str, str], *, half: bool = False) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Connection", "close")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content[: len(content) // 2] if half else content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def fault_of(self, line: str) -> str:
        for number, (part, fault) in enumerate(self.faults):
            if part in line:
                del self.faults[number]
                return fault
        return ""

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def faulty_proxy(target: str) -> Iterator[FaultyProxy]:
    """A running proxy."""
    proxy = FaultyProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
