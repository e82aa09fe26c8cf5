"""How is Gemini asked?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from judgments.judges.answers import Reply, Stop
from judgments.providers.protocol import Protocol, Question, as_text, count

STOPS: dict[str, Stop] = {
    "STOP": "done",
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
}
# Of JSON schema, what this provider's own dialect knows.
KNOWN = ("type", "properties", "required", "enum", "items", "description", "minimum", "maximum")


def _body(question: Question, model: str) -> dict[str, Any]:
    settings: dict[str, Any] = {"temperature": question.temperature, "maxOutputTokens": question.most_tokens}
    if question.seed is not None:
        settings["seed"] = question.seed
    if question.schema is not None:
        settings |= {"responseMimeType": "application/json", "responseSchema": _dialect(question.schema)}
    body: dict[str, Any] = {
        "contents": [{"role": "user", "parts": [{"text": question.prompt}]}],
        "generationConfig": settings,
    }
    if question.system:
        body["systemInstruction"] = {"parts": [{"text": question.system}]}
    return body


def _dialect(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without what is not known there. Enumerations are of texts there; a range says the same of grades."""
    kept = {key: value for key, value in schema.items() if key in KNOWN}
    if kept.get("type") == "integer" and (values := kept.pop("enum", None)):
        kept |= {"minimum": min(values), "maximum": max(values)}
    if "properties" in kept:
        kept["properties"] = {name: _dialect(one) for name, one in kept["properties"].items()}
    return kept


def _read(told: Mapping[str, Any]) -> Reply:
    usage = told.get("usageMetadata") or {}
    counts = count(usage.get("promptTokenCount")), count(usage.get("candidatesTokenCount"))
    model = as_text(told.get("modelVersion"))
    blocked = (told.get("promptFeedback") or {}).get("blockReason")
    if blocked:
        return Reply(as_text(blocked), "filtered", *counts, model=model)
    candidate = told["candidates"][0]
    parts = (candidate.get("content") or {}).get("parts") or []
    text = "".join(as_text(part.get("text")) for part in parts)
    return Reply(text, STOPS.get(as_text(candidate.get("finishReason")), "done"), *counts, model=model)


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
)
