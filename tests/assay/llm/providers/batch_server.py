"""A server on this machine that takes batches of questions as two providers do, and fails as it is told."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.model_server import Answer, _reply

KEY = "sk-very-secret"


class Provider:
    """What was sent, how often it was looked at, and after how many looks it is done."""

    def __init__(self, looks: int) -> None:
        self.looks, self.seen = looks, 0
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.files: dict[str, list[dict[str, Any]]] = {}
        # What is told of each batch beside its state, the oldest first; whether the one who leaves one is told of it.
        self.listed: list[dict[str, Any]] = []
        self.silent = False
        # Lines before those of the answers, and what is said instead of how a batch stands.
        self.lines: list[bytes] = []
        self.says: bytes | None = None
        self.only_lines = False
        self.error: dict[str, Any] = {"message": f"no such key {KEY}"}
        # What no question may hold, and whether no batch passes at all.
        self.refuses = ""
        self.fails: dict[str, Any] | None = None
        self.status = 200
        self.patience = ""
        self.url = ""


@contextmanager
def provider(looks: int = 2) -> Iterator[Provider]:
    server = Provider(looks)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if server.status != 200:
                self._say({"error": server.error}, server.status)
            elif self.path.endswith("/files"):
                head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
                parts = [part.get_payload(decode=True) for part in message_from_bytes(head + body).get_payload()]  # type: ignore[union-attr]
                name = f"file-{len(server.files)}"
                server.files[name] = [json.loads(line) for line in parts[-1].split(b"\n") if line]
                assert parts[0] == b"batch"
                self._say({"id": name})
            else:
                request = json.loads(body)
                name = f"batch-{len(server.batches)}"
                server.batches[name] = request.get("requests") or server.files[request["input_file_id"]]
                server.listed.append(_listed(name, request, len(server.batches[name])))
                if server.silent:
                    self.close_connection = True
                    return
                self._say({"id": name})

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if path.endswith("/batches"):
                # One a page, the newest first.
                names = [one["id"] for one in server.listed][::-1]
                after = re.search(r"after(?:_id)?=(batch-\d+)", query)
                at = names.index(after[1]) + 1 if after else 0
                rows = [one for name in names[at : at + 1] for one in server.listed if one["id"] == name]
                self._say({"data": rows, "has_more": at + 1 < len(names)})
                return
            name = next((part for part in self.path.split("/") if part.startswith("batch-")), "")
            if self.path.endswith(("/results", "/content")):
                name = name or self.path.split("/")[-2].removeprefix("out-")
                self._lines([self._answer(one) for one in server.batches[name]])
                return
            server.seen += 1
            done = server.seen >= server.looks
            if server.says is not None:
                self._send(server.says, 200)
                return
            if "/messages/" in self.path:
                self._say({"processing_status": "ended" if done else "in_progress"})
            elif server.fails is not None:
                self._say({"status": "failed", "errors": server.fails})
            else:
                self._say({"status": "completed" if done else "in_progress", "output_file_id": f"out-{name}"})

        def _answer(self, one: dict[str, Any]) -> dict[str, Any]:
            body = one.get("body") or one["params"]
            prompt, anthropic = body["messages"][-1]["content"], "params" in one
            reply = _reply("/messages" if anthropic else "/chat/completions", Answer(), body)
            if prompt.endswith("lost"):
                failed = (
                    {"result": {"type": "expired"}} if anthropic else {"response": None, "error": {"code": "expired"}}
                )
                return {"custom_id": one["custom_id"], **failed}
            if prompt.endswith("flagged"):
                refused = {"status_code": 400, "body": {"error": {"code": "content_filter", "message": "flagged"}}}
                return {"custom_id": one["custom_id"], "response": refused}
            if server.refuses and server.refuses in body:
                wrong = {"type": "invalid_request_error", "message": f"`{server.refuses}` is not supported"}
                answer = {"status_code": 400, "body": {"error": wrong}}
                failed = {"type": "errored", "error": {"type": "error", "error": wrong}}
                return {"custom_id": one["custom_id"], **({"result": failed} if anthropic else {"response": answer})}
            fine = {"result": {"type": "succeeded", "message": reply}} if anthropic else {}
            return {"custom_id": one["custom_id"], **(fine or {"response": {"status_code": 200, "body": reply}})}

        def _lines(self, rows: list[dict[str, Any]]) -> None:
            content = "".join(json.dumps(row) + "\n" for row in reversed(rows)).encode()
            before = b"".join(line + b"\n" for line in server.lines)
            self._send(before if server.only_lines else before + content, 200)

        def _say(self, content: dict[str, Any], status: int = 200) -> None:
            self._send(json.dumps(content).encode(), status)

        def _send(self, content: bytes, status: int) -> None:
            self.send_response(status)
            if server.patience:
                self.send_header("Retry-After", server.patience)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}/v1"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def _listed(name: str, request: dict[str, Any], number: int) -> dict[str, Any]:
    if "requests" in request:
        counts = {"processing": number - 1, "succeeded": 1, "errored": 0}
        return {"id": name, "created_at": datetime.now(UTC).isoformat(), "request_counts": counts}
    return {"id": name, "created_at": int(time.time()), "metadata": request.get("metadata")}
