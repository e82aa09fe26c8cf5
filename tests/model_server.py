"""A local server with the providers' protocols that counts requests and fails on demand.

It is asked by the real client over real HTTP; what it answers is decided by a function of the prompt.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Answer:
    """What the server says to one request."""

    text: str = '{"grade": 2, "reason": "fits"}'
    status: int = 200
    stop: str = "done"
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    body: bytes | None = None
    model: str = ""
    # Each token with what else it could have been; the text cut into words, digits and signs where none are given.
    tokens: list[tuple[str, dict[str, float]]] | None = None
    # How many tokens were read and written, where it is not a token for four characters.
    read: int | None = None
    written: int | None = None
    # Tokens that a model thinks before it writes; only Gemini counts them apart.
    thought: int = 0


STOPS = {
    "openai": {"done": "stop", "length": "length", "filtered": "content_filter", "refused": "stop"},
    "anthropic": {"done": "end_turn", "length": "max_tokens", "filtered": "refusal", "refused": "refusal"},
    "gemini": {"done": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY", "refused": "STOP"},
}


class ModelServer:
    """What was asked, and what is to be answered.

    Parameters
    ----------
    answer : callable
        ``answer(prompt, number)`` with the number of the request, from 1.
    """

    def __init__(self, answer: Callable[[str, int], Answer]) -> None:
        self.answer = answer
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.connections = 0
        self.url = ""

    def rest(self) -> None:
        """Until all who asked are gone and what they asked is counted: a killed process leaves requests behind."""
        # Who is answered now stood in line behind all that had knocked before.
        with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=600)) as last:
            last.request("GET", "/")
            last.getresponse().read()
        deadline = time.monotonic() + 600
        while self.connections and time.monotonic() < deadline:
            time.sleep(0.005)
        assert self.connections == 0, "somebody is still asking"

    @property
    def prompts(self) -> list[str]:
        """The prompts in the order in which they came."""
        return [_prompt(path, body) for path, _, body in self.requests]


@contextmanager
def serving(answer: Callable[[str, int], Answer] | None = None, *, port: int = 0) -> Iterator[ModelServer]:
    """Serve until the block ends: on a free port, or on the one where a server was before."""
    server = ModelServer(answer or (lambda prompt, number: Answer()))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body leave apart: the second would wait 40 ms for a receipt

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                server.requests.append((self.path, dict(self.headers), body))
                number = len(server.requests)
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            try:
                answer = server.answer(_prompt(self.path, body), number)
                if answer.wait:
                    time.sleep(answer.wait)
            finally:
                # Before the answer leaves: who has it may send the next request at once, over another connection.
                with server.lock:
                    server.at_once -= 1
            self._say(answer, body)

        def _say(self, answer: Answer, body: dict[str, Any]) -> None:
            content = answer.body if answer.body is not None else json.dumps(_reply(self.path, answer, body)).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on standard error."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def process_request(self, request: Any, client_address: Any) -> None:
            with server.lock:
                server.connections += 1
            super().process_request(request, client_address)

        def shutdown_request(self, request: Any) -> None:
            super().shutdown_request(request)
            with server.lock:
                server.connections -= 1

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that went away is part of some tests."""

    with Server(("127.0.0.1", port), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def _prompt(path: str, body: dict[str, Any]) -> str:
    if "contents" in body:
        return str(body["contents"][-1]["parts"][0]["text"])
    return str(body["messages"][-1]["content"])


def _reply(path: str, answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    if answer.status != 200:
        return {"error": {"message": answer.text, "type": "error"}}
    read = len(_prompt(path, body)) // 4 if answer.read is None else answer.read
    written = max(1, len(answer.text) // 4) if answer.written is None else answer.written
    if path.endswith("/messages"):
        content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
        if "tools" in body and answer.stop == "done" and answer.text.startswith("{"):
            content = [{"type": "tool_use", "id": "t1", "name": "answer", "input": json.loads(answer.text)}]
        stop = "tool_use" if content[0]["type"] == "tool_use" else STOPS["anthropic"][answer.stop]
        usage = {"input_tokens": read, "output_tokens": written}
        return {"content": content, "stop_reason": stop, "usage": usage, "model": answer.model or body["model"]}
    if "contents" in body:
        parts: dict[str, Any]
        usage = {"promptTokenCount": read, "candidatesTokenCount": written}
        usage |= {"thoughtsTokenCount": answer.thought} if answer.thought else {}
        parts = {"content": {"parts": [{"text": answer.text}]}, "finishReason": STOPS["gemini"][answer.stop]}
        if body["generationConfig"].get("responseLogprobs"):
            parts["logprobsResult"] = _gemini_tokens(answer.tokens or tokens_of(answer.text))
        return {"candidates": [parts], "usageMetadata": usage, "modelVersion": answer.model or "gemini-test"}
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.stop == "refused":
        message = {"role": "assistant", "content": None, "refusal": answer.text}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": STOPS["openai"][answer.stop]}
    if body.get("logprobs"):
        choice["logprobs"] = {"content": [_openai_token(*one) for one in answer.tokens or tokens_of(answer.text)]}
    usage = {"prompt_tokens": read, "completion_tokens": written}
    return {"choices": [choice], "usage": usage, "model": answer.model or body["model"]}


def tokens_of(text: str) -> list[tuple[str, dict[str, float]]]:
    """The text as a model could have written it: every digit, also one in a sentence, might have been one more."""
    cut = re.findall(r" ?[^\W\d]+|\d|[^\w]+?(?=\w| )|[^\w]+|_", text)
    assert "".join(cut) == text
    return [(token, {token: -0.1, str(int(token) + 1): -2.5} if token.isdigit() else {token: -0.01}) for token in cut]


def _openai_token(token: str, might: dict[str, float]) -> dict[str, Any]:
    top = [{"token": other, "logprob": value} for other, value in might.items()]
    return {"token": token, "logprob": might.get(token, -9.0), "top_logprobs": top}


def _gemini_tokens(tokens: list[tuple[str, dict[str, float]]]) -> dict[str, Any]:
    top = [[{"token": one, "logProbability": value} for one, value in might.items()] for _, might in tokens]
    chosen = [{"token": token, "logProbability": might.get(token, -9.0)} for token, might in tokens]
    return {"chosenCandidates": chosen, "topCandidates": [{"candidates": one} for one in top]}
