"""How does each provider take a batch of questions, say how it stands, and give the answers?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgments.providers.calls import BUSY, HIDDEN, HOPELESS
from judgments.providers.protocol import Endpoint, Question

if TYPE_CHECKING:
    import httpx

ATTEMPTS, FIRST_WAIT = 5, 0.5
OPENAI_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass(frozen=True)
class Way:
    """How one provider takes batches."""

    # Leaves questions there, and answers the batch's id; the answers by key, None while it goes on.
    send: Callable[[Caller, Endpoint, Sequence[Question]], str]
    answers: Callable[[Caller, Endpoint, str], Iterator[tuple[str, Any]] | None]


class Refused(Exception):
    """The key or the request is wrong."""


class Down(Exception):
    """No answer after all attempts."""


class Caller:
    """Single requests, asked again where the provider is busy."""

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx

        self._endpoint, self.calls = endpoint, 0
        self._client = httpx.Client(timeout=120.0, follow_redirects=False)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def __call__(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Ask once, and again while the provider is busy.

        Raises
        ------
        Refused, Down
            Which of the two says whether asking later helps.
        """
        import httpx

        headers = self._endpoint.protocol.headers(self._endpoint.key)
        said = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(FIRST_WAIT * 2**attempt)
            self.calls += 1
            try:
                reply = self._client.request(method, self._endpoint.base_url + path, headers=headers, **more)
            except httpx.TransportError as fault:
                said = f"no connection ({type(fault).__name__})"
                continue
            if reply.status_code == 200:
                return reply
            said = f"status {reply.status_code}: {self._hidden(' '.join(reply.text.split())[:300])}"
            if reply.status_code in HOPELESS or reply.status_code not in BUSY:
                raise Refused(f"{said}. Check key, model and address")
        raise Down(f"no answer after {ATTEMPTS} attempts, the last time: {said}")

    def _hidden(self, text: str) -> str:
        return text.replace(self._endpoint.key, HIDDEN) if self._endpoint.key else text


def _send_openai(call: Caller, endpoint: Endpoint, questions: Sequence[Question]) -> str:
    url = "/v1/chat/completions"
    lines = (
        {"custom_id": one.key, "method": "POST", "url": url, "body": endpoint.protocol.body(one, endpoint.model)}
        for one in questions
    )
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    file = call("POST", "/files", data={"purpose": "batch"}, files={"file": ("questions.jsonl", content)}).json()
    body = {"input_file_id": file["id"], "endpoint": url, "completion_window": "24h"}
    return str(call("POST", "/batches", json=body).json()["id"])


def _answers_openai(call: Caller, endpoint: Endpoint, batch: str) -> Iterator[tuple[str, Any]] | None:
    state = call("GET", f"/batches/{batch}").json()
    if state["status"] not in OPENAI_ENDED:
        return None
    files = [state[name] for name in ("output_file_id", "error_file_id") if state.get(name)]
    return (_of_openai(line) for file in files for line in _lines(call("GET", f"/files/{file}/content")))


def _of_openai(line: Mapping[str, Any]) -> tuple[str, Any]:
    response, error = line.get("response") or {}, line.get("error")
    if error or response.get("status_code") != 200:
        return str(line["custom_id"]), f"the batch says: {json.dumps(error or response.get('body'))[:300]}"
    return str(line["custom_id"]), response["body"]


def _send_anthropic(call: Caller, endpoint: Endpoint, questions: Sequence[Question]) -> str:
    asked = [{"custom_id": one.key, "params": endpoint.protocol.body(one, endpoint.model)} for one in questions]
    return str(call("POST", "/messages/batches", json={"requests": asked}).json()["id"])


def _answers_anthropic(call: Caller, endpoint: Endpoint, batch: str) -> Iterator[tuple[str, Any]] | None:
    if call("GET", f"/messages/batches/{batch}").json()["processing_status"] != "ended":
        return None
    # Not the address that the reply names: the key goes nowhere but where it was meant to go.
    return (_of_anthropic(line) for line in _lines(call("GET", f"/messages/batches/{batch}/results")))


def _of_anthropic(line: Mapping[str, Any]) -> tuple[str, Any]:
    result = line["result"]
    if result["type"] != "succeeded":
        return str(line["custom_id"]), f"the batch says: {json.dumps(result)[:300]}"
    return str(line["custom_id"]), result["message"]


def _lines(reply: httpx.Response) -> list[dict[str, Any]]:
    return [json.loads(line) for line in reply.text.split("\n") if line.strip()]


WAYS = {
    "openai": Way(_send_openai, _answers_openai),
    "anthropic": Way(_send_anthropic, _answers_anthropic),
}
