"""How is Anthropic asked?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgments.judges.answers import Reply, Stop
from judgments.providers.protocol import Protocol, Question, as_text, count

VERSION = "2023-06-01"
STOPS: dict[str, Stop] = {"end_turn": "done", "stop_sequence": "done", "max_tokens": "length", "refusal": "refused"}
TOOL = "answer"


def _headers(key: str) -> dict[str, str]:
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


def _body(question: Question, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": question.most_tokens,
        "temperature": question.temperature,
        "messages": [{"role": "user", "content": question.prompt}],
    }
    if question.system:
        body["system"] = question.system
    if question.schema is not None:
        # A tool that has to be called: its input is held to the schema.
        body["tools"] = [{"name": TOOL, "description": "Give the answer.", "input_schema": dict(question.schema)}]
        body["tool_choice"] = {"type": "tool", "name": TOOL}
    return body


def _read(told: Mapping[str, Any]) -> Reply:
    import json

    blocks = told["content"]
    called = next((block["input"] for block in blocks if block.get("type") == "tool_use"), None)
    text = "".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")
    stop = as_text(told.get("stop_reason"))
    usage = told.get("usage") or {}
    return Reply(
        text if called is None else json.dumps(called, ensure_ascii=False),
        STOPS.get(stop, "done"),
        count(usage.get("input_tokens")),
        count(usage.get("output_tokens")),
        model=as_text(told.get("model")),
    )


ANTHROPIC = Protocol(
    name="anthropic",
    title="Anthropic",
    description="The Messages API; it tells no probabilities and takes no seed.",
    base_url="https://api.anthropic.com/v1",
    key_variable="ANTHROPIC_API_KEY",
    path=lambda model: "/messages",
    headers=_headers,
    body=_body,
    read=_read,
)
