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

from judgments.judges.answers import Reply
from judgments.providers.protocol import Endpoint, Question
from judgments.providers.reading import MOST_BYTES, TooLong, sent
from judgments.providers.responses import BUSY, HOPELESS, UNSURE, WRONG_SHAPE, as_json, hidden, hopeless, retry_after

if TYPE_CHECKING:
    import httpx

ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 5, 0.5, 60.0
# The answers of 50,000 questions, at 20 KB each; they are read from a file.
MOST_IN_FILES = 1_000_000_000
TIMEOUT, TIMEOUT_OF_FILES = 120.0, 900.0
OPENAI_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})

# Clocks differ by less, and no more batches than that are looked at.
EARLIER, MOST_PAGES = 600.0, 20
MARK = "assay"


@dataclass(frozen=True)
class Way:
    """How one provider takes batches.

    Parameters
    ----------
    send : callable
        ``send(call, endpoint, questions, mark)``: leaves questions there, and answers the batch's id.
    answers : callable
        ``answers(call, endpoint, batch)``: the answers by key; None while it goes on.
    find : callable
        ``find(call, mark, number, known)``: the id of the batch of so many questions that was left under a mark, and
        is none of those that are known; None where there is none.
    """

    send: Callable[[Caller, Endpoint, Sequence[Question], str], str]
    answers: Callable[[Caller, Endpoint, str], Iterator[tuple[str, Any]] | None]
    find: Callable[[Caller, str, int, Collection[str]], str | None]


class Refused(Exception):
    """The key or the request is wrong."""


class Failed(Exception):
    """A batch that was never worked on: nothing in it was answered, and nothing is to be paid for."""


class Down(Exception):
    """No answer after all attempts."""


@dataclass(frozen=True)
class Wrong:
    """Why a question in a batch got no answer: in words, and as the provider told it."""

    said: str
    told: Any


def new_mark() -> str:
    """A name for a batch that is about to be left, with the time in it."""
    return f"{MARK}-{int(time.time())}-{uuid.uuid4().hex}"


def since(mark: str) -> float:
    """When a batch was about to be left, in seconds; a bit earlier, since clocks differ."""
    return float(mark.split("-")[1]) - EARLIER


class Caller:
    """Single requests, asked again where the provider is busy."""

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx

        self._endpoint, self.calls = endpoint, 0
        self._client = httpx.Client(timeout=TIMEOUT, follow_redirects=False)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def __call__(
        self, method: str, path: str, *, once: bool = False, into: IO[bytes] | None = None, **more: Any
    ) -> httpx.Response:
        """Ask once, and again while the provider is busy.

        Parameters
        ----------
        method, path : str
            What is asked for.
        once : bool
            Whether doing it twice costs twice: then it is not asked again where it may have been done.
        into : binary file, optional
            Where the answers of a batch go.

        Raises
        ------
        Refused, Down
            Which of the two says whether asking later helps.
        """
        import httpx

        headers = self._endpoint.protocol.headers(self._endpoint.key)
        said, patience = "", 0.0
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(max(patience, FIRST_WAIT * 2**attempt))
            self.calls += 1
            try:
                reply = sent(
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
                raise Down(f"{flood}. Is this the provider's address?") from None
            except httpx.TransportError as fault:
                said = f"no connection ({type(fault).__name__})"
                if once and not isinstance(fault, httpx.ConnectError | httpx.ConnectTimeout):
                    raise Down(_unsure(said)) from None
                continue
            if reply.status_code == 200:
                return reply
            said = f"status {reply.status_code}: {hidden(self._endpoint, ' '.join(reply.text.split()))[:300]}"
            status = reply.status_code
            if status in HOPELESS or status not in BUSY or hopeless(self._endpoint, status, as_json(reply)):
                raise Refused(f"{said}. Check key, model and address")
            if once and reply.status_code in UNSURE:
                raise Down(_unsure(said))
            patience = retry_after(reply.headers.get("Retry-After")) or 0.0
            if patience > LONGEST_WAIT:
                raise Down(f"{said}; it wants to be left alone for {patience:,.0f} s")
        raise Down(f"no answer after {ATTEMPTS} attempts, the last time: {said}")


def _unsure(said: str) -> str:
    return f"{said}; whether the batch was taken is not known, the next run looks for it before it leaves another"


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
    """The batches that stand there, the newest first."""
    further: dict[str, Any] = {}
    for _ in range(MOST_PAGES):
        told = call("GET", path, params={"limit": 100, **further}).json()
        yield from told["data"]
        if not told.get("has_more") or not told["data"]:
            return
        further = {after: told["data"][-1]["id"]}


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
        said = error or response.get("body")
        return str(line["custom_id"]), Wrong(f"the batch says: {json.dumps(said)[:300]}", said)
    return str(line["custom_id"]), response["body"]


def _send_anthropic(call: Caller, endpoint: Endpoint, questions: Sequence[Question], mark: str) -> str:
    asked = [{"custom_id": one.key, "params": endpoint.body(one)} for one in questions]
    return str(call("POST", "/messages/batches", once=True, json={"requests": asked}).json()["id"])


def _find_anthropic(call: Caller, mark: str, number: int, known: Collection[str]) -> str | None:
    """It takes no mark: the first of as many questions since then, that is none of ours.

    If it was somebody else's, none of our questions is in it, and all of them are asked again.
    """
    found = None
    for batch in _pages(call, "/messages/batches", "after_id"):
        if datetime.fromisoformat(batch["created_at"]).timestamp() < since(mark):
            break
        if sum(batch["request_counts"].values()) == number and batch["id"] not in known:
            found = str(batch["id"])
    return found


def _answers_anthropic(call: Caller, endpoint: Endpoint, batch: str) -> Iterator[tuple[str, Any]] | None:
    if call("GET", f"/messages/batches/{batch}").json()["processing_status"] != "ended":
        return None
    # Not the address that the reply names: the key goes nowhere but where it was meant to go.
    return _lines(call, [f"/messages/batches/{batch}/results"], _of_anthropic)


def _of_anthropic(line: Mapping[str, Any]) -> tuple[str, Any]:
    result = line["result"]
    if result["type"] != "succeeded":
        said = result.get("error")
        # One error stands in another one.
        told = said["error"] if isinstance(said, Mapping) and isinstance(said.get("error"), Mapping) else said
        return str(line["custom_id"]), Wrong(f"the batch says: {json.dumps(result)[:300]}", told)
    return str(line["custom_id"]), result["message"]


def _lines(
    call: Caller, paths: Sequence[str], read: Callable[[Mapping[str, Any]], tuple[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """The answers one by one; a line that is none names no question, and its question goes without an answer."""
    for path in paths:
        with TemporaryFile() as file:
            call("GET", path, into=file)
            file.seek(0)
            while line := file.readline(MOST_BYTES):
                try:
                    yield read(json.loads(line))
                except WRONG_SHAPE:
                    continue


WAYS = {
    "openai": Way(_send_openai, _answers_openai, _find_openai),
    "anthropic": Way(_send_anthropic, _answers_anthropic, _find_anthropic),
}
