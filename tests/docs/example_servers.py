"""Servers that the examples of docs/api.md ask: a search engine with Elasticsearch's interface, and a model."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.model_server import Answer

PRODUCT = re.compile(r"Product (\d+)")


@dataclass(frozen=True)
class EngineServer:
    """Where the engine answers."""

    url: str


class SearchHandler(BaseHTTPRequestHandler):
    """Answer every search with as many documents as it asks for, always the same; nothing else is there."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/_search"):
            return self._send({"error": "no handler found"}, status=404)
        hits = [
            {"_index": "shop", "_id": f"d{rank}", "_score": 10 / rank, "_source": {"title": f"Product {rank}"}}
            for rank in range(1, request.get("size", 10) + 1)
        ]
        reply = {"took": 1, "timed_out": False, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0}}
        self._send(reply | {"hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": 10.0, "hits": hits}})

    def do_GET(self) -> None:
        self._send({"version": {"number": "8.15.0"}, "tagline": "You Know, for Search"})

    def _send(self, reply: dict[str, Any], status: int = 200) -> None:
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing to standard error."""


def model_answer(prompt: str, number: int) -> Answer:
    """Grade what is waterproof 2 and everything else 0; of two products, prefer the one with the lower number."""
    products = [int(match) for match in PRODUCT.findall(prompt)]
    if "The first document:" in prompt:
        first, second = [*products, 99, 99][:2]  # a planted sentence may cut a title in two
        score = max(-1.0, min(1.0, (first - second) / 20))
        return Answer(json.dumps({"reason": f"{min(first, second)} keeps the rain out.", "score": score}))
    return Answer(json.dumps({"grade": 2 if "Waterproof" in prompt else 0, "reason": "By what it is made of."}))


@contextmanager
def engine_serving() -> Iterator[EngineServer]:
    """Serve searches on a free port until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), SearchHandler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield EngineServer(f"http://127.0.0.1:{server.server_address[1]}")
        finally:
            server.shutdown()
            thread.join()
