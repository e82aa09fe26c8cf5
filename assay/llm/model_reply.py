"""Parse a model's answer: a grade, or a typed failure.

A failure is never a grade. The rules are strict because lenient judges make mistakes: a number anywhere in the text is
not the grade, a refusal is not a zero, and a truncated answer is not an answer even if it contains a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay.core.text_rules import storable
from assay.llm.judge import Outcome

# Why a model stopped, in our words; every provider's own are mapped to these.
Stop = Literal["done", "length", "filtered", "refused"]

GRADE_KEY = "grade"
FENCE = "```"
# A document can make a model write a million equal characters: no two parts of a pattern may match them, because
# parsing would take quadratic time.
_WORD = re.compile("[a-zA-Z]*")
# The whole last line: a label and a number, and nothing else that could be another grade.
_LAST = re.compile(r"[\W_]*+(?:final\s++)?(?:score|grade)[\W_]*?([+-]?\d+(?:\.\d+)?)[\W_]*+", re.IGNORECASE)
_YES_NO = re.compile(r"[\W_]*(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """Response of a model."""

    text: str = ""
    stop: Stop = "done"
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    model: str = ""
    seconds: float = 0.0
    token_probabilities: Mapping[str, float] | None = None
    fault: str = ""
    estimated: bool = False
    left_out: tuple[str, ...] = ()


def read_grade(reply: Reply, values: Sequence[int], *, relevant_from: int | None = None) -> Outcome:
    """Parse a graded answer.

    Examples
    --------
    >>> read_grade(Reply('{"grade": 2, "why": "partial"}'), (0, 1, 2, 3)).grade
    2
    >>> read_grade(Reply("It relates to 1 aspect."), (0, 1, 2, 3)).name
    'unparseable'
    """
    if failed := failure(reply):
        return failed
    body = _unfenced(reply.text)
    value, why = _in_json(body)
    if value is None and why is None:
        value = _in_last_line(body)
    if value is None:
        return _outcome(reply, "unparseable")
    # Compare the text, because the number may be too large to convert.
    if value not in values:
        return _outcome(reply, "out_of_scale")
    grade = int(value)
    relevant = None if relevant_from is None else grade >= relevant_from
    return _outcome(reply, "graded", grade, relevant, why or "", _probabilities(reply, values))


def read_yes_or_no(reply: Reply) -> Outcome:
    """Parse an answer that begins with YES or NO; any other answer is a failure.

    Examples
    --------
    >>> [read_yes_or_no(Reply(text)).name for text in ("**YES**", "No.", "Note: it is relevant", "not relevant")]
    ['graded', 'graded', 'unparseable', 'unparseable']
    """
    if failed := failure(reply):
        return failed
    match = _YES_NO.match(reply.text)
    if match is None:
        return _outcome(reply, "unparseable")
    yes = match[1].lower() == "yes"
    return _outcome(reply, "graded", int(yes), yes, reply.text[match.end() :].strip(" \t\n\r.,:;*_-"))


def failure(reply: Reply) -> Outcome | None:
    """Return the outcome for a missing, refused, filtered or truncated answer; None if there is an answer to parse."""
    if reply.fault:
        return _outcome(reply, "transport_error", raw=reply.text or reply.fault)
    if reply.stop == "refused":
        return _outcome(reply, "refused")
    if reply.stop == "filtered":
        return _outcome(reply, "blocked")
    if reply.stop == "length":
        return _outcome(reply, "truncated")
    return None


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object of an answer, without its Markdown fence; empty if there is none."""
    try:
        content = json.loads(_unfenced(text))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _unfenced(text: str) -> str:
    """Return the text inside a Markdown fence, or the whole text."""
    body = text.strip()
    if body.startswith(FENCE):
        word = _WORD.match(body, len(FENCE))
        body = body[word.end() if word else len(FENCE) :].lstrip()
    return body.removesuffix(FENCE).rstrip()


def _in_json(body: str) -> tuple[float | None, str | None]:
    """Return the number under ``grade`` and the reason; (None, None) if the text is not JSON."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return None, None
    value = content.get(GRADE_KEY) if isinstance(content, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, ""
    if value != value or value in (float("inf"), float("-inf")):
        return None, ""
    why = next((content[key] for key in ("reason", "why", "rationale") if isinstance(content.get(key), str)), "")
    return value, why


def _in_last_line(body: str) -> float | None:
    lines = [line for line in body.splitlines() if line.strip()]
    match = _LAST.fullmatch(lines[-1].strip()) if lines else None
    return float(match[1]) if match else None


def _probabilities(reply: Reply, values: Sequence[int]) -> dict[str, float] | None:
    """Return the probability of each grade, normalized to 1; None if the provider returned none."""
    if not reply.token_probabilities:
        return None
    by_grade = dict.fromkeys(map(str, values), 0.0)
    for token, probability in reply.token_probabilities.items():
        if token.strip() in by_grade:
            by_grade[token.strip()] += probability
    total = sum(by_grade.values())
    return {grade: probability / total for grade, probability in by_grade.items()} if total > 0 else None


def _outcome(
    reply: Reply,
    name: Any,
    grade: int | None = None,
    relevant: bool | None = None,
    rationale: str = "",
    probabilities: Mapping[str, float] | None = None,
    *,
    raw: str | None = None,
) -> Outcome:
    return Outcome(
        name,
        grade,
        relevant,
        probabilities=probabilities,
        rationale=storable(rationale),
        raw=storable(reply.text if raw is None else raw),
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_usd=reply.cost_usd,
    )
