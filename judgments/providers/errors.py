"""Parse a provider's error: its codes, its message, and the part of the question it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

# Where an error is told in words only its beginning counts: behind it some servers repeat what they were sent.
BEGINNING = 300
# How errors name what a question may do without. Servers have many names for one thing; each is left out once.
NAMES = {
    "temperature": re.compile(r"\btemperature\b"),
    "seed": re.compile(r"\bseed\b"),
    "schema": re.compile(
        r"response_?(?:format|schema|mime_?type)|json[ _]?(?:schema|mode)|output_config|structured output|grammar"
        r"|guided_|\btool_choice\b|\btools?\b"
    ),
    "probabilities": re.compile(r"log_?probs"),
    # Of a model that thinks first: the length of its answer has another name there.
    "thinks": re.compile(r"\buse '?max_completion_tokens|max_tokens'? is not supported"),
}


def error_of(told: Any) -> Mapping[str, Any]:
    """The error in a reply, wherever it stands there; empty where there is none.

    Examples
    --------
    >>> error_of([{"error": {"code": 400}}]), error_of({"error": "no such model"}), error_of(None)
    ({'code': 400}, {'message': 'no such model'}, {})
    """
    if isinstance(told, list) and len(told) == 1:
        told = told[0]
    if not isinstance(told, Mapping):
        return {}
    error = told.get("error", told)
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, Mapping) else {}


def codes_of(told: Any) -> frozenset[str]:
    """All that an error calls itself, in small letters.

    Examples
    --------
    >>> sorted(codes_of({"error": {"type": "insufficient_quota", "code": None, "details": [{"reason": "X"}]}}))
    ['insufficient_quota', 'x']
    """
    error = error_of(told)
    details = error.get("details")
    reasons = [one.get("reason") for one in details if isinstance(one, Mapping)] if isinstance(details, list) else []
    named = (error.get("code"), error.get("type"), error.get("status"), *reasons)
    return frozenset(one.lower() for one in named if isinstance(one, str))


def words_of(told: Any) -> str:
    """The beginning of what an error says, in small letters."""
    error = error_of(told)
    said = error.get("message", error.get("detail", ""))
    return (said if isinstance(said, str) else str(said))[:BEGINNING].lower()


def named_in(told: Any, names: Iterable[str]) -> frozenset[str]:
    """Which of these parts of a question an error names as what is wrong.

    Examples
    --------
    >>> sorted(named_in({"error": {"message": "Unsupported value: 'temperature'"}}, ["temperature", "seed"]))
    ['temperature']
    """
    param = error_of(told).get("param")
    said = words_of(told)
    by_param = frozenset(name for name in names if isinstance(param, str) and NAMES[name].search(param.lower()))
    return by_param or frozenset(name for name in names if NAMES[name].search(said))
