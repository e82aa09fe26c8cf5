"""Anthropic's Messages protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.llm.model_reply import Reply, Stop
from assay.llm.providers.protocol import Protocol, Question, as_text, count
from assay.llm.providers.responses import words_of

VERSION = "2023-06-01"
STOPS: dict[str, Stop] = {
    "end_turn": "done",
    "stop_sequence": "done",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
# Messages with status 400 that concern the account instead of the question.
EMPTY = ("credit balance is too low", "usage limits", "organization has been disabled")
TOOL = "answer"


def _headers(key: str) -> dict[str, str]:
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


def _body(question: Question, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": question.most_tokens,
        "messages": [{"role": "user", "content": question.prompt}],
    }
    if question.temperature is not None and not question.thinks:
        body["temperature"] = question.temperature
    if question.system:
        body["system"] = question.system
    if question.schema is not None:
        # A required tool, whose input must match the schema.
        body["tools"] = [{"name": TOOL, "description": "Give the answer.", "input_schema": dict(question.schema)}]
        body["tool_choice"] = {"type": "tool", "name": TOOL}
    return body


def _read(body: Mapping[str, Any]) -> Reply:
    import json

    blocks = body["content"]
    called = next((block["input"] for block in blocks if block.get("type") == "tool_use"), None)
    text = "".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")
    stop = as_text(body.get("stop_reason"))
    return Reply(
        text if called is None else json.dumps(called, ensure_ascii=False),
        STOPS.get(stop, "done"),
        *_counted(body),
        model=as_text(body.get("model")),
    )


def _counted(body: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = body.get("usage") or {}
    return _read_tokens(usage), count(usage.get("output_tokens"))


def _read_tokens(usage: Mapping[str, Any]) -> int | None:
    """Return the input tokens, including those that the provider counts separately for its cache."""
    counts = [count(usage.get(f"{name}input_tokens")) for name in ("", "cache_creation_", "cache_read_")]
    return None if counts[0] is None else sum(one or 0 for one in counts)


def _moderated(status: int, body: Mapping[str, Any]) -> bool:
    """Return whether the content filter rejected the text; the filter has no error code, only a message."""
    return status == 400 and "content filtering" in words_of(body)


def _hopeless(status: int, body: Mapping[str, Any]) -> bool:
    """Return whether the account is empty or disabled, which has no error code either."""
    return status == 400 and any(words in words_of(body) for words in EMPTY)


ANTHROPIC = Protocol(
    name="anthropic",
    title="Anthropic",
    description="The Messages API, without token probabilities or a seed.",
    base_url="https://api.anthropic.com/v1",
    key_variable="ANTHROPIC_API_KEY",
    path=lambda model: "/messages",
    headers=_headers,
    body=_body,
    read=_read,
    moderated=_moderated,
    hopeless=_hopeless,
    counted=_counted,
    # An answer with a schema uses a tool, whose definition adds many tokens.
    wrapping=1_024,
)
