"""Parse a provider's error: its codes, its message, and the part of the question it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

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
