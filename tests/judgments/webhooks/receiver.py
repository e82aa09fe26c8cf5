"""A real HTTP server that receives webhooks and answers as told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver(ThreadingHTTPServer):
    """Answers with the next of ``statuses``, then with 200; remembers the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Behavior)
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.response = b"thanks"
        self.location = ""
        # With this set, the response begins and never ends.
        self.hangs = False
        self.let_go = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"


class Behavior(BaseHTTPRequestHandler):
    """One request."""

    server: Receiver

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.requests.append((self.path, dict(self.headers), body))
        self.send_response(server.statuses.pop(0) if server.statuses else 200)
        if server.location:
            self.send_header("Location", server.location)
        if server.hangs:
            self.end_headers()
            self.wfile.write(b"slow")
            self.wfile.flush()
            server.let_go.wait(20)
            return
        self.send_header("Content-Length", str(len(server.response)))
        self.end_headers()
        self.wfile.write(server.response)


@contextmanager
def receiving() -> Iterator[Receiver]:
    server = Receiver()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.let_go.set()
        server.shutdown()
        server.server_close()
