"""A real HTTP server that behaves as badly as engines do."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

SECRET = "tell-nobody-4711"


class BadEngine(ThreadingHTTPServer):
    """Answers by the word in its path; remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Behavior)
        self.requests: list[dict[str, Any]] = []
        self.seen: Counter[str] = Counter()
        self.replies: dict[str, Any] = {}
        self.let_go = threading.Event()
        self.patience = 0

    @property
    def port(self) -> int:
        return self.server_address[1]

    def at(self, word: str) -> str:
        return f"http://127.0.0.1:{self.port}/{word}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news here."""


class Behavior(BaseHTTPRequestHandler):
    """One request."""

    server: BadEngine

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: Any) -> None:
        parts = urlsplit(self.path)
        options = body if body is not None else {key: value[0] for key, value in parse_qs(parts.query).items()}
        self.server.requests.append({"path": parts.path, "asked": options, "headers": dict(self.headers)})
        word = parts.path.strip("/").split("/")[0]
        self.server.seen[word] += 1
        if parts.path in self.server.replies:
            self._json(200, self.server.replies[parts.path])
        else:
            getattr(self, f"_{word.replace('-', '_')}")(options)

    def _json(self, status: int, reply: Any, **headers: str) -> None:
        self._send(status, json.dumps(reply).encode(), "application/json", **headers)

    def _send(self, status: int, content: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def _good(self, options: Any) -> None:
        """Hits d1, d2, ... as many as were asked for, with text that holds the query."""
        hits = [
            {"id": f"d{rank}", "score": 10.0 / rank, "title": f"Document {rank}", "text": f"about {options['query']}"}
            for rank in range(1, int(options.get("size", 3)) + 1)
        ]
        self._json(200, {"hits": hits})

    def _paged(self, options: Any) -> None:
        """620 hits, by offset or page; whoever asks for more than 250 at once is refused, as by Typesense."""
        size = int(options["size"])
        if size > 250:
            self._json(422, {"message": "at most 250 hits a page"})
            return
        begin = int(options["offset"]) if "offset" in options else (int(options["page"]) - 1) * size
        hits = [{"id": f"d{rank}", "score": 1000.0 - rank} for rank in range(begin + 1, min(begin + size, 620) + 1)]
        self._json(200, {"hits": hits})

    def _few(self, options: Any) -> None:
        self._json(200, {"hits": [{"id": "d1", "score": 1.0}]})

    def _repeats(self, options: Any) -> None:
        self._json(200, {"hits": [{"id": name, "score": 1.0} for name in ("d1", "d2", "d1", "d3", "d2")]})

    def _moves(self, options: Any) -> None:
        """The index changes with every request."""
        self._json(200, {"hits": [{"id": f"d{self.server.seen['moves']}", "score": 1.0}]})

    def _hangs(self, options: Any) -> None:
        self.server.let_go.wait(10)

    def _drips(self, options: Any) -> None:
        self.send_response(200)
        self.end_headers()
        for _ in range(100):
            if self.server.let_go.wait(0.05):
                return
            self.wfile.write(b" ")
            self.wfile.flush()

    def _drips_headers(self, options: Any) -> None:
        """Headers without end, a letter at a time; it gives up after five seconds and breaks off."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        for _ in range(100):
            if self.server.let_go.wait(0.05):
                break
            self.wfile.write(b"a")
            self.wfile.flush()
        self.close_connection = True

    def _breaks(self, options: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"hits": [')

    def _floods(self, options: Any) -> None:
        self.send_response(200)
        self.end_headers()
        block = b" " * (1 << 20)
        for _ in range(64):
            self.wfile.write(block)

    def _fails(self, options: Any) -> None:
        self._json(500, {"error": f"out of memory, {self.headers.get('Authorization', '')}"})

    def _recovers(self, options: Any) -> None:
        """503 twice, then well again."""
        if self.server.seen["recovers"] <= 2:
            self._json(503, {"error": "starting"}, Retry_After="0")
        else:
            self._good(options)

    def _html(self, options: Any) -> None:
        self._send(200, b"<html><body>Please log in</body></html>", "text/html")

    def _locked(self, options: Any) -> None:
        good = self.headers.get("Authorization") == f"Bearer {SECRET}"
        self._good(options) if good else self._json(401, {"error": f"unknown key {self.headers.get('Authorization')}"})

    def _no_hits(self, options: Any) -> None:
        self._json(200, {"documents": [], "took": 3})

    def _no_ids(self, options: Any) -> None:
        self._json(200, {"hits": [{"name": "jacket"}]})

    def _refuses(self, options: Any) -> None:
        self._json(400, {"error": "unknown field [titel]"})

    def _moved(self, options: Any) -> None:
        self._json(307, {}, Location="/good")

    def _elsewhere(self, options: Any) -> None:
        self._json(302, {}, Location="http://169.254.169.254/latest/meta-data/")

    def _circle(self, options: Any) -> None:
        self._json(307, {}, Location="/circle")

    def _some(self, options: Any) -> None:
        """Whoever asks for "bad" is refused; everybody else is served."""
        self._refuses(options) if "bad" in options["query"] else self._good(options)

    def _tired(self, options: Any) -> None:
        """Serves as many as its patience lasts, and refuses the others."""
        self._good(options) if self.server.seen["tired"] <= self.server.patience else self._refuses(options)

    def _slow(self, options: Any) -> None:
        time.sleep(0.05)
        self._good(options)
