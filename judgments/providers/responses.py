"""Classify a provider's response: an answer, a refused question, a reason to retry, or a fatal error."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgments.core.storable import storable
from judgments.judges.answers import Reply
from judgments.network.masked import masked
from judgments.providers.errors import named_in
from judgments.providers.protocol import WITHOUT, Endpoint, Question

if TYPE_CHECKING:
    import httpx

BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# The key, the right to the model, or the model itself: the next question would be answered alike.
HOPELESS = frozenset({401, 402, 403, 404})
# Whether a request that ended so was worked on is not known, and so neither what it cost.
UNSURE = frozenset({408, 500, 502, 504})
# With which a part of the question is refused that another model would take.
NOT_TAKEN = frozenset({400, 403, 422})
# How reading JSON ends that is other than it should be; numbers may be larger than any float.
WRONG_SHAPE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
EXCERPT = 300
# A shorter key keeps nothing secret, and is often a word such as "none" or "EMPTY" that answers hold by themselves.
LEAST_KEY = 12


class Hopeless(Exception):
    """No question can be answered."""


class NotUnderstood(Exception):
    """This question got no answer, and would get none again.

    Parameters
    ----------
    said : str
        What was wrong.
    written : tuple of (int or None, int or None), optional
        Where the model answered all the same, in a way that cannot be read: tokens read and written, as far as told.
    """

    def __init__(self, said: str, written: tuple[int | None, int | None] | None = None) -> None:
        super().__init__(said)
        self.written = written


class Unwanted(Exception):
    """This model takes a part of the question not at all; without it there may be an answer.

    Parameters
    ----------
    said : str
        What was wrong.
    names : frozenset of str
        What of the question it was: names of `protocol.WITHOUT`, or ``thinks``.
    """

    def __init__(self, said: str, names: frozenset[str]) -> None:
        super().__init__(said)
        self.names = names


class Busy(Exception):
    """No answer now.

    Parameters
    ----------
    said : str
        What was wrong.
    wait : float, optional
        Seconds for which the provider wants to be left alone.
    unsure : bool
        Whether the model may have answered all the same, so that it is to be paid for.
    """

    def __init__(self, said: str, wait: float | None = None, *, unsure: bool = False) -> None:
        super().__init__(said)
        self.wait, self.unsure = wait, unsure


def read(endpoint: Endpoint, question: Question, response: httpx.Response) -> Reply:
    """The answer in a response.

    Parameters
    ----------
    endpoint : Endpoint
        Who answered.
    question : Question
        What.
    response : httpx.Response
        How.

    Returns
    -------
    Reply
        One with the stop ``filtered`` where the provider does not let a model see this text, or say what it would.

    Raises
    ------
    Busy, NotUnderstood, Unwanted, Hopeless
        There is none. The key stands in none of them.
    """
    told = as_json(response)
    status = _status(response.status_code, told)
    # Hidden before it is cut: of a key that stands at the cut the beginning would be left.
    words = hidden(endpoint, _words(told, response))[:EXCERPT]
    said = f"status {status}: {words}"
    if status != 200 and isinstance(told, Mapping) and endpoint.protocol.moderated(status, told):
        return Reply(words, "filtered", tokens_out=0)
    if status in NOT_TAKEN and (names := named_in(told, told_names(endpoint, question))):
        raise Unwanted(said, names)
    if status in HOPELESS or (status != 200 and hopeless(endpoint, status, told)):
        raise Hopeless(f"{said}. Check key, model and address; nothing more was asked")
    if status in BUSY:
        raise Busy(said, retry_after(response.headers.get("Retry-After")), unsure=status in UNSURE)
    if status != 200:
        raise NotUnderstood(said)
    try:
        return unsaid(endpoint, endpoint.protocol.read(told))
    except WRONG_SHAPE:
        title = endpoint.protocol.title
        raise NotUnderstood(f"status 200, but no answer as {title} gives: {said}", counted(endpoint, told)) from None


def hopeless(endpoint: Endpoint, status: int, told: Any) -> bool:
    """Whether an error says that no question would be answered, although its status does not."""
    try:
        return endpoint.protocol.hopeless(status, told)
    except WRONG_SHAPE:
        return False


def told_names(endpoint: Endpoint, question: Question) -> list[str]:
    """What of the question was told and can be left out."""
    untold = endpoint.untold(question)
    told = [name for name, without in WITHOUT.items() if getattr(question, name) != without and name not in untold]
    return told if endpoint.thinks else [*told, "thinks"]


def counted(endpoint: Endpoint, told: Any) -> tuple[int | None, int | None]:
    """Tokens read and written, as far as an answer tells them that cannot be read otherwise."""
    try:
        return endpoint.protocol.counted(told)
    except WRONG_SHAPE:
        return None, None


def hidden(endpoint: Endpoint, text: str) -> str:
    """A text without the key."""
    return masked(text, endpoint.key)


def unsaid(endpoint: Endpoint, reply: Reply) -> Reply:
    """The reply without the key: a server between here and the model may say in an answer what it was sent."""
    if len(endpoint.key) < LEAST_KEY:
        return reply
    texts: dict[str, Any] = {name: hidden(endpoint, getattr(reply, name)) for name in ("text", "model", "fault")}
    return replace(reply, **texts)


def retry_after(told: str | None) -> float | None:
    """How many seconds a provider wants to be left alone: a number, or a date.

    Examples
    --------
    >>> retry_after("3"), retry_after("soon"), retry_after(None)
    (3.0, None, None)
    """
    if told is None:
        return None
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(told).timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None


def as_json(response: httpx.Response) -> Any:
    """What a response says; None where it is no JSON."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _status(status: int, told: Any) -> int:
    """The status; that of the model's own server, where a go-between such as OpenRouter answers for it with 200."""
    error = told.get("error") if status == 200 and isinstance(told, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) and "choices" not in told else None
    return code if isinstance(code, int) and 400 <= code < 600 else status


def _words(told: Any, response: httpx.Response) -> str:
    """What the provider says, in a line."""
    if told is None:
        told = response.text
    told = told.get("error", told) if isinstance(told, Mapping) else told
    said = told.get("message", told) if isinstance(told, Mapping) else told
    return " ".join(storable(str(said)).split()) or "without a word"
