"""Gemini's generateContent protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from assay.llm.model_reply import Reply, Stop
from assay.llm.providers.protocol import Protocol, Question, as_text, count, of_grade
from assay.llm.providers.responses import codes_of, words_of

STOPS: dict[str, Stop] = {
    "STOP": "done",
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "LANGUAGE": "filtered",
    "MODEL_ARMOR": "filtered",
}
# Messages about the key and account with status 400, and about a model without quota with 429.
NO_KEY, NO_SHARE = frozenset({"api_key_invalid", "failed_precondition"}), re.compile(r"\blimit: 0\b")
TOP_LOGPROBS = 5
# The JSON schema keywords of this provider's dialect.
KNOWN = ("type", "properties", "required", "enum", "items", "description", "minimum", "maximum")


def _body(question: Question, model: str) -> dict[str, Any]:
    settings: dict[str, Any] = {"maxOutputTokens": question.most_tokens}
    if question.temperature is not None:
        settings["temperature"] = question.temperature
    if question.seed is not None:
        settings["seed"] = question.seed
    if question.schema is not None:
        settings |= {"responseMimeType": "application/json", "responseSchema": _dialect(question.schema)}
    if question.probabilities:
        settings |= {"responseLogprobs": True, "logprobs": TOP_LOGPROBS}
    body: dict[str, Any] = {
        "contents": [{"role": "user", "parts": [{"text": question.prompt}]}],
        "generationConfig": settings,
    }
    if question.system:
        body["systemInstruction"] = {"parts": [{"text": question.system}]}
    return body


def _dialect(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without unsupported keywords; integer enumerations become a range."""
    known = {key: value for key, value in schema.items() if key in KNOWN}
    if known.get("type") == "integer" and (values := known.pop("enum", None)):
        known |= {"minimum": min(values), "maximum": max(values)}
    if "properties" in known:
        known["properties"] = {name: _dialect(one) for name, one in known["properties"].items()}
    return known


def _read(body: Mapping[str, Any]) -> Reply:
    counts = _counted(body)
    model = as_text(body.get("modelVersion"))
    blocked = (body.get("promptFeedback") or {}).get("blockReason")
    if blocked:
        return Reply(as_text(blocked), "filtered", *counts, model=model)
    candidate = body["candidates"][0]
    parts = (candidate.get("content") or {}).get("parts") or []
    text = "".join(as_text(part.get("text")) for part in parts)
    stop = STOPS.get(as_text(candidate.get("finishReason")), "done")
    probabilities = of_grade(_tokens(candidate.get("logprobsResult")))
    return Reply(text, stop, *counts, model=model, token_probabilities=probabilities)


def _counted(body: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = body.get("usageMetadata") or {}
    return count(usage.get("promptTokenCount")), _written(usage)


def _written(usage: Mapping[str, Any]) -> int | None:
    """Return the output tokens, including thoughts, which are charged as output."""
    counts = [count(usage.get(name)) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    return None if counts == [None, None] else sum(one or 0 for one in counts)


def _hopeless(status: int, body: Mapping[str, Any]) -> bool:
    """Return whether the key is wrong, which has status 400 like a wrong question."""
    if status == 429:
        return NO_SHARE.search(words_of(body)) is not None
    return status == 400 and (not NO_KEY.isdisjoint(codes_of(body)) or words_of(body).startswith("api key "))


def _tokens(result: Any) -> list[tuple[str, dict[str, float]]]:
    """Return each token with its alternatives; nothing if the response has them in another form."""
    try:
        both = zip(result["chosenCandidates"], result["topCandidates"], strict=True)
        return [(one["token"], _logarithms([one, *(others.get("candidates") or ())])) for one, others in both]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return []


def _logarithms(candidates: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {as_text(one["token"]): float(one["logProbability"]) for one in candidates}


GEMINI = Protocol(
    name="gemini",
    title="Gemini",
    description="The generateContent API.",
    base_url="https://generativelanguage.googleapis.com/v1beta",
    key_variable="GEMINI_API_KEY",
    path=lambda model: f"/models/{quote(model, safe='')}:generateContent",
    headers=lambda key: {"x-goog-api-key": key} if key else {},
    body=_body,
    read=_read,
    hopeless=_hopeless,
    counted=_counted,
    wrapping=256,
)
