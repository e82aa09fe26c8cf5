"""Classify a provider's response: an answer, a refused question, a reason to retry, or a fatal error."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.core.text_rules import storable
from assay.llm.model_reply import Reply
from assay.llm.providers.protocol import WITHOUT, Endpoint, Question
from assay.network.masked_secrets import masked

if TYPE_CHECKING:
    import httpx


# Only the beginning of an error message counts, because some servers then repeat the request.
BEGINNING = 300
# How errors name optional parameters. Servers use many names for the same parameter; each is left out once.
NAMES = {
    "temperature": re.compile(r"\btemperature\b"),
    "seed": re.compile(r"\bseed\b"),
    "schema": re.compile(
        r"response_?(?:format|schema|mime_?type)|json[ _]?(?:schema|mode)|output_config|structured output|grammar"
        r"|guided_|\btool_choice\b|\btools?\b"
    ),
    "probabilities": re.compile(r"log_?probs"),
    # For a reasoning model, whose length limit has another name.
    "thinks": re.compile(r"\buse '?max_completion_tokens|max_tokens'? is not supported"),
}


def error_of(body: Any) -> Mapping[str, Any]:
    """Return the error object of a response, wherever it is; empty if there is none.

    Examples
    --------
    >>> error_of([{"error": {"code": 400}}]), error_of({"error": "no such model"}), error_of(None)
    ({'code': 400}, {'message': 'no such model'}, {})
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, Mapping):
        return {}
    error = body.get("error", body)
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, Mapping) else {}


def codes_of(body: Any) -> frozenset[str]:
    """Return all codes of an error in lower case.

    Examples
    --------
    >>> sorted(codes_of({"error": {"type": "insufficient_quota", "code": None, "details": [{"reason": "X"}]}}))
    ['insufficient_quota', 'x']
    """
    error = error_of(body)
    details = error.get("details")
    reasons = [one.get("reason") for one in details if isinstance(one, Mapping)] if isinstance(details, list) else []
    named = (error.get("code"), error.get("type"), error.get("status"), *reasons)
    return frozenset(one.lower() for one in named if isinstance(one, str))


def words_of(body: Any) -> str:
    """Return the beginning of an error's message in lower case."""
    error = error_of(body)
    message = error.get("message", error.get("detail", ""))
    return (message if isinstance(message, str) else str(message))[:BEGINNING].lower()


def named_in(body: Any, names: Iterable[str]) -> frozenset[str]:
    """Return which of these parameters an error names as its cause.

    Examples
    --------
    >>> sorted(named_in({"error": {"message": "Unsupported value: 'temperature'"}}, ["temperature", "seed"]))
    ['temperature']
    """
    param = error_of(body).get("param")
    message = words_of(body)
    by_param = frozenset(name for name in names if isinstance(param, str) and NAMES[name].search(param.lower()))
    return by_param or frozenset(name for name in names if NAMES[name].search(message))


BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# Faults of the key, the access to the model, or the model itself, which affect every question.
HOPELESS = frozenset({401, 402, 403, 404})
# For these, it is unknown whether the request was processed and what it cost.
UNSURE = frozenset({408, 500, 502, 504})
# Statuses with which a parameter is rejected that another model would accept.
NOT_TAKEN = frozenset({400, 403, 422})
# Exceptions for unexpected JSON; numbers may be too large for a float.
WRONG_SHAPE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
EXCERPT = 300
# A shorter key is not secret, and is often a word such as "none" or "EMPTY" that also occurs in answers.
LEAST_KEY = 12


class Hopeless(Exception):
    """No question can be answered."""


class NotUnderstood(Exception):
    """The question got no usable answer, and a retry would not help."""

    def __init__(self, message: str, written: tuple[int | None, int | None] | None = None) -> None:
        super().__init__(message)
        self.written = written


class Unwanted(Exception):
    """The model refuses a parameter of the question; without it there may be an answer."""

    def __init__(self, message: str, names: frozenset[str]) -> None:
        super().__init__(message)
        self.names = names


class Busy(Exception):
    """The provider is busy at the moment."""

    def __init__(self, message: str, wait: float | None = None, *, unsure: bool = False) -> None:
        super().__init__(message)
        self.wait, self.unsure = wait, unsure


def read(endpoint: Endpoint, question: Question, response: httpx.Response) -> Reply:
    """Return the answer in a response."""
    body = as_json(response)
    status = _status(response.status_code, body)
    # Mask before cutting, because the beginning of a key at the cut would remain.
    words = hidden(endpoint, _words(body, response))[:EXCERPT]
    message = f"status {status}: {words}"
    if status != 200 and isinstance(body, Mapping) and endpoint.protocol.moderated(status, body):
        return Reply(words, "filtered", tokens_out=0)
    if status in NOT_TAKEN and (names := named_in(body, removable_parts(endpoint, question))):
        raise Unwanted(message, names)
    if status in HOPELESS or (status != 200 and hopeless(endpoint, status, body)):
        raise Hopeless(f"{message}. Check the key, model and address; no more requests were made")
    if status in BUSY:
        raise Busy(message, retry_after(response.headers.get("Retry-After")), unsure=status in UNSURE)
    if status != 200:
        raise NotUnderstood(message)
    try:
        return without_key(endpoint, endpoint.protocol.read(body))
    except WRONG_SHAPE:
        title = endpoint.protocol.title
        raise NotUnderstood(
            f"status 200, but not a response from {title}: {message}", counted(endpoint, body)
        ) from None


def hopeless(endpoint: Endpoint, status: int, body: Any) -> bool:
    """Return whether an error means that no question will be answered, although its status does not say so."""
    try:
        return endpoint.protocol.hopeless(status, body)
    except WRONG_SHAPE:
        return False


def removable_parts(endpoint: Endpoint, question: Question) -> list[str]:
    """Return the parameters in the request that can be left out."""
    unsupported = endpoint.unsupported(question)
    used = [name for name, without in WITHOUT.items() if getattr(question, name) != without]
    names = [name for name in used if name not in unsupported]
    return names if endpoint.thinks else [*names, "thinks"]


def counted(endpoint: Endpoint, body: Any) -> tuple[int | None, int | None]:
    """Return the input and output tokens, if an otherwise unreadable response has them."""
    try:
        return endpoint.protocol.counted(body)
    except WRONG_SHAPE:
        return None, None


def hidden(endpoint: Endpoint, text: str) -> str:
    """Mask the key in a text."""
    return masked(text, endpoint.key)


def without_key(endpoint: Endpoint, reply: Reply) -> Reply:
    """Mask the key in a reply, because an intermediate server may echo the request."""
    if len(endpoint.key) < LEAST_KEY:
        return reply
    texts: dict[str, Any] = {name: hidden(endpoint, getattr(reply, name)) for name in ("text", "model", "fault")}
    return replace(reply, **texts)


def retry_after(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header: a number or a date.

    Examples
    --------
    >>> retry_after("3"), retry_after("soon"), retry_after(None)
    (3.0, None, None)
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None


def as_json(response: httpx.Response) -> Any:
    """Return the JSON of a response; None if it is not JSON."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _status(status: int, body: Any) -> int:
    """Return the status, or that of the upstream server if a gateway such as OpenRouter wraps it in 200."""
    error = body.get("error") if status == 200 and isinstance(body, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) and "choices" not in body else None
    return code if isinstance(code, int) and 400 <= code < 600 else status


def _words(body: Any, response: httpx.Response) -> str:
    """Return the provider's message in one line."""
    if body is None:
        body = response.text
    body = body.get("error", body) if isinstance(body, Mapping) else body
    message = body.get("message", body) if isinstance(body, Mapping) else body
    return " ".join(storable(str(message)).split()) or "no message"
