"""Batch protocols of the providers: submit a batch, read its status, fetch its answers."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from assay.llm.model_reply import Reply
from assay.llm.providers.protocol import Endpoint, Question
from assay.llm.providers.response_body import MOST_BYTES, TooLong, send_request
from assay.llm.providers.responses import BUSY, HOPELESS, UNSURE, WRONG_SHAPE, as_json, hidden, hopeless, retry_after

if TYPE_CHECKING:
    import httpx

ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 5, 0.5, 60.0
# The answers of 50,000 questions, at 20 KB each; they are read from a file.
MOST_IN_FILES = 1_000_000_000
TIMEOUT, TIMEOUT_OF_FILES = 120.0, 900.0
OPENAI_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})

# Clocks differ by less than this; and the maximum number of batches to check.
EARLIER, MOST_PAGES = 600.0, 20
MARK = "assay"


@dataclass(frozen=True)
class BatchProtocol:
    """Functions that submit, read and locate batches of a provider."""

    send: Callable[[Caller, Endpoint, Sequence[Question], str], str]
    answers: Callable[[Caller, Endpoint, str], Iterator[tuple[str, Any]] | None]
    find: Callable[[Caller, str, int, Collection[str]], str | None]


class Refused(Exception):
    """The key or the request is wrong."""


class Failed(Exception):
    """The batch was never processed: no question was answered and nothing is charged."""


class Down(Exception):
    """No answer after all attempts."""


@dataclass(frozen=True)
class QuestionError:
    """Why a question of a batch has no answer, as a message and as the provider's error."""

    message: str
    error: Any


def new_mark() -> str:
    """Return a name for a batch that is about to be submitted; it contains the time."""
    return f"{MARK}-{int(time.time())}-{uuid.uuid4().hex}"


def since(mark: str) -> float:
    """Return the time at which a batch was about to be submitted, minus a margin for clock differences."""
    return float(mark.split("-")[1]) - EARLIER


class Caller:
    """Single requests to a provider, with retries while it is busy."""

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx

        from assay.network.http_clients import public_tls_context

        self._endpoint, self.calls = endpoint, 0
        self._client = httpx.Client(timeout=TIMEOUT, follow_redirects=False, verify=public_tls_context())

    def close(self) -> None:
        self._client.close()

    def __call__(
        self, method: str, path: str, *, once: bool = False, into: IO[bytes] | None = None, **more: Any
    ) -> httpx.Response:
        """Send a request, with retries while the provider is busy."""
        import httpx

        headers = self._endpoint.protocol.headers(self._endpoint.key)
        problem, patience = "", 0.0
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(max(patience, FIRST_WAIT * 2**attempt))
            self.calls += 1
            try:
                reply = send_request(
                    self._client,
                    method,
                    self._endpoint.at(path),
                    headers=headers,
                    seconds=TIMEOUT if into is None else TIMEOUT_OF_FILES,
                    most=MOST_BYTES if into is None else MOST_IN_FILES,
                    into=into,
                    **more,
                )
            except TooLong as flood:
                raise Down(f"{flood}. Check that this is the provider's address") from None
            except httpx.TransportError as fault:
                problem = f"no connection ({type(fault).__name__})"
                if once and not isinstance(fault, httpx.ConnectError | httpx.ConnectTimeout):
                    raise Down(_unsure(problem)) from None
                continue
            if reply.status_code == 200:
                return reply
            problem = f"status {reply.status_code}: {hidden(self._endpoint, ' '.join(reply.text.split()))[:300]}"
            status = reply.status_code
            if status in HOPELESS or status not in BUSY or hopeless(self._endpoint, status, as_json(reply)):
                raise Refused(f"{problem}. Check the key, model and address")
            if once and reply.status_code in UNSURE:
                raise Down(_unsure(problem))
            patience = retry_after(reply.headers.get("Retry-After")) or 0.0
            if patience > LONGEST_WAIT:
                raise Down(f"{problem}; the provider asks to wait {patience:,.0f} s")
        raise Down(f"no answer after {ATTEMPTS} attempts; last error: {problem}")


def _unsure(problem: str) -> str:
    return f"{problem}; the batch may have been accepted: the next run will look for it before submitting another batch"


def _send_openai(call: Caller, endpoint: Endpoint, questions: Sequence[Question], mark: str) -> str:
    url = "/v1/chat/completions"
    lines = ({"custom_id": one.key, "method": "POST", "url": url, "body": endpoint.body(one)} for one in questions)
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    file = call("POST", "/files", data={"purpose": "batch"}, files={"file": ("questions.jsonl", content)}).json()
    body = {"input_file_id": file["id"], "endpoint": url, "completion_window": "24h", "metadata": {MARK: mark}}
    return str(call("POST", "/batches", once=True, json=body).json()["id"])


def _find_openai(call: Caller, mark: str, number: int, known: Collection[str]) -> str | None:
    for batch in _pages(call, "/batches", "after"):
        if (batch.get("metadata") or {}).get(MARK) == mark:
            return str(batch["id"])
        if batch["created_at"] < since(mark):
            return None
    return None


def _pages(call: Caller, path: str, after: str) -> Iterator[dict[str, Any]]:
    """Yield the provider's batches, newest first."""
    further: dict[str, Any] = {}
    for _ in range(MOST_PAGES):
        page = call("GET", path, params={"limit": 100, **further}).json()
        yield from page["data"]
        if not page.get("has_more") or not page["data"]:
            return
        further = {after: page["data"][-1]["id"]}


def _answers_openai(call: Caller, endpoint: Endpoint, batch: str) -> Iterator[tuple[str, Any]] | None:
    state = call("GET", f"/batches/{batch}").json()
    if state["status"] not in OPENAI_ENDED:
        return None
    files = [state[name] for name in ("output_file_id", "error_file_id") if state.get(name)]
    if state["status"] == "failed" and not files:
        raise Failed(f"the batch failed: {hidden(endpoint, json.dumps(state.get('errors')))[:300]}")
    paths = [f"/files/{file}/content" for file in files]
    return _lines(call, paths, lambda line: _of_openai(line, endpoint))


def _of_openai(line: Mapping[str, Any], endpoint: Endpoint) -> tuple[str, Any]:
    response, error = line.get("response") or {}, line.get("error")
    status, body = response.get("status_code"), response.get("body")
    if isinstance(body, Mapping) and status != 200 and endpoint.protocol.moderated(int(status or 0), body):
        return str(line["custom_id"]), Reply(json.dumps(body)[:300], "filtered", tokens_out=0)
    if error or response.get("status_code") != 200:
        error_body = error or response.get("body")
        return str(line["custom_id"]), QuestionError(f"the batch reports: {json.dumps(error_body)[:300]}", error_body)
    return str(line["custom_id"]), response["body"]


def _send_anthropic(call: Caller, endpoint: Endpoint, questions: Sequence[Question], mark: str) -> str:
    requests = [{"custom_id": one.key, "params": endpoint.body(one)} for one in questions]
    return str(call("POST", "/messages/batches", once=True, json={"requests": requests}).json()["id"])


def _find_anthropic(call: Caller, mark: str, number: int, known: Collection[str]) -> str | None:
    """Return the oldest unknown batch of the same size since the mark, because the protocol stores no marks. If it
    belongs to another client, it contains none of the questions, and all of them are sent again.
    """
    batch_id = None
    for batch in _pages(call, "/messages/batches", "after_id"):
        if datetime.fromisoformat(batch["created_at"]).timestamp() < since(mark):
            break
        if sum(batch["request_counts"].values()) == number and batch["id"] not in known:
            batch_id = str(batch["id"])
    return batch_id


def _answers_anthropic(call: Caller, endpoint: Endpoint, batch: str) -> Iterator[tuple[str, Any]] | None:
    if call("GET", f"/messages/batches/{batch}").json()["processing_status"] != "ended":
        return None
    # Not the address in the response, because the key must go only to the configured address.
    return _lines(call, [f"/messages/batches/{batch}/results"], _of_anthropic)


def _of_anthropic(line: Mapping[str, Any]) -> tuple[str, Any]:
    result = line["result"]
    if result["type"] != "succeeded":
        error = result.get("error")
        # Errors may be nested.
        inner = error["error"] if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping) else error
        return str(line["custom_id"]), QuestionError(f"the batch reports: {json.dumps(result)[:300]}", inner)
    return str(line["custom_id"]), result["message"]


def _lines(
    call: Caller, paths: Sequence[str], read: Callable[[Mapping[str, Any]], tuple[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """Yield the answers; a line that cannot be parsed is skipped and leaves its question without an answer."""
    for path in paths:
        with TemporaryFile() as file:
            call("GET", path, into=file)
            file.seek(0)
            while line := file.readline(MOST_BYTES):
                try:
                    yield read(json.loads(line))
                except WRONG_SHAPE:
                    continue


BATCH_PROTOCOLS = {
    "openai": BatchProtocol(_send_openai, _answers_openai, _find_openai),
    "anthropic": BatchProtocol(_send_anthropic, _answers_anthropic, _find_anthropic),
}
