"""Parse a model's answer: a grade, or a typed failure.

A failure is never a grade. The strict rules come from mistakes of lenient judges: a number anywhere in the text is
not the grade, a refusal is not a zero, and a truncated answer is not an answer even where it contains a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judgments.core.storable import storable
from judgments.judges.contract import Outcome

# Why a model stopped, in our words; every provider's own are mapped to these.
Stop = Literal["done", "length", "filtered", "refused"]

GRADE_KEY = "grade"
FENCE = "```"
# A document can have a model write a million signs in a row: no two parts of a pattern may share them, or reading them
# takes the square of their number.
_WORD = re.compile("[a-zA-Z]*")
# The whole of the last line: a label, a number, and nothing else that could be read as another grade.
_LAST = re.compile(r"[\W_]*+(?:final\s++)?(?:score|grade)[\W_]*?([+-]?\d+(?:\.\d+)?)[\W_]*+", re.IGNORECASE)
_YES_NO = re.compile(r"[\W_]*(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from a model.

    Parameters
    ----------
    text : str
        As it came.
    stop : str
        Why it ended: ``done``, ``length``, ``filtered`` or ``refused``.
    tokens_in, tokens_out : int or None
        What the provider counted.
    cost_usd : float or None
        By the price table, attempts that were given up among it; None where the model has no price there.
    model : str
        Which model answered, as the provider names it.
    seconds : float
        How long it took, attempts that failed among it.
    token_probabilities : mapping of str to float, optional
        The most probable first tokens of the grade, where the provider tells them.
    fault : str
        Why there is no answer; empty where there is one.
    estimated : bool
        Whether the cost, or a part of it, is the most that it can have been: nobody counted.
    left_out : tuple of str
        What of the question the model was not told since it takes none: temperature, seed, schema or probabilities.
    """

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
    """Read a graded answer.

    Parameters
    ----------
    reply : Reply
        What came back.
    values : sequence of int
        The scale.
    relevant_from : int, optional
        The lowest grade that is relevant, for the field ``relevant``; not told when None.

    Returns
    -------
    Outcome
        In this order: no answer, a refusal, a filter, an answer that was cut off; JSON with a whole number under
        ``grade``; else a last line that is a score and nothing else; else unparseable. A number that is not on the
        scale, or no whole one, is out of scale: it is neither rounded nor cut.

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
    found, why = _in_json(body)
    if found is None and why is None:
        found = _in_last_line(body)
    if found is None:
        return _told(reply, "unparseable")
    # Compared as it is: a number may be larger than any that can be converted.
    if found not in values:
        return _told(reply, "out_of_scale")
    grade = int(found)
    relevant = None if relevant_from is None else grade >= relevant_from
    return _told(reply, "graded", grade, relevant, why or "", _probabilities(reply, values))


def read_yes_or_no(reply: Reply) -> Outcome:
    """Read an answer that begins with YES or NO; a judge of grades 1 and 0 whose every other answer is a failure.

    Examples
    --------
    >>> [read_yes_or_no(Reply(text)).name for text in ("**YES**", "No.", "Note: it is relevant", "not relevant")]
    ['graded', 'graded', 'unparseable', 'unparseable']
    """
    if failed := failure(reply):
        return failed
    found = _YES_NO.match(reply.text)
    if found is None:
        return _told(reply, "unparseable")
    yes = found[1].lower() == "yes"
    return _told(reply, "graded", int(yes), yes, reply.text[found.end() :].strip(" \t\n\r.,:;*_-"))


def failure(reply: Reply) -> Outcome | None:
    """No answer, a refusal, a filter, an answer that was cut off; None where there is one to be read."""
    if reply.fault:
        return _told(reply, "transport_error", raw=reply.text or reply.fault)
    if reply.stop == "refused":
        return _told(reply, "refused")
    if reply.stop == "filtered":
        return _told(reply, "blocked")
    if reply.stop == "length":
        return _told(reply, "truncated")
    return None


def json_object(text: str) -> dict[str, Any]:
    """The object that an answer is, taken out of its fence; an empty one where it is none."""
    try:
        told = json.loads(_unfenced(text))
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _unfenced(text: str) -> str:
    """What stands between the fences of Markdown, where there are any."""
    found = text.strip()
    if found.startswith(FENCE):
        word = _WORD.match(found, len(FENCE))
        found = found[word.end() if word else len(FENCE) :].lstrip()
    return found.removesuffix(FENCE).rstrip()


def _in_json(body: str) -> tuple[float | None, str | None]:
    """The number under ``grade`` and the reason beside it; (None, None) where the text is no JSON at all."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None, None
    value = told.get(GRADE_KEY) if isinstance(told, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, ""
    if value != value or value in (float("inf"), float("-inf")):
        return None, ""
    why = next((told[key] for key in ("reason", "why", "rationale") if isinstance(told.get(key), str)), "")
    return value, why


def _in_last_line(body: str) -> float | None:
    lines = [line for line in body.splitlines() if line.strip()]
    found = _LAST.fullmatch(lines[-1].strip()) if lines else None
    return float(found[1]) if found else None


def _probabilities(reply: Reply, values: Sequence[int]) -> dict[str, float] | None:
    """How probable each grade was as the model wrote it, made to sum to one; None where nobody told."""
    if not reply.token_probabilities:
        return None
    found = dict.fromkeys(map(str, values), 0.0)
    for token, probability in reply.token_probabilities.items():
        if token.strip() in found:
            found[token.strip()] += probability
    total = sum(found.values())
    return {grade: probability / total for grade, probability in found.items()} if total > 0 else None


def _told(
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
