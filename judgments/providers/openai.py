"""How are OpenAI and the many servers that speak as it does asked: vLLM, Ollama, llama.cpp, Azure, OpenRouter?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from judgments.judges.answers import Reply, Stop
from judgments.providers.protocol import Protocol, Question, as_text, count

STOPS: dict[str, Stop] = {"stop": "done", "length": "length", "content_filter": "filtered"}
TOLD_TOKENS = 10
# Models that think first take no temperature, and count their thoughts under another name; whoever sends them the usual
# ones is refused.
REASONING = re.compile(r"(?:\A|/)(?:o[1-9]|gpt-[5-9])(?![0-9a-z])")


def _headers(key: str) -> dict[str, str]:
    # Azure reads the second and others the first; each leaves the other alone.
    return {"Authorization": f"Bearer {key}", "api-key": key} if key else {}


def _body(question: Question, model: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": question.system}] if question.system else []
    body: dict[str, Any] = {
        "model": model,
        "messages": [*messages, {"role": "user", "content": question.prompt}],
    }
    if REASONING.search(model):
        body["max_completion_tokens"] = question.most_tokens
    else:
        body |= {"temperature": question.temperature, "max_tokens": question.most_tokens}
    if question.seed is not None:
        body["seed"] = question.seed
    if question.schema is not None:
        shape = {"name": "answer", "strict": True, "schema": dict(question.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    if question.probabilities:
        body |= {"logprobs": True, "top_logprobs": TOLD_TOKENS}
    return body


def _read(told: Mapping[str, Any]) -> Reply:
    choice = told["choices"][0]
    message = choice["message"]
    refusal = as_text(message.get("refusal"))
    usage = told.get("usage") or {}
    stop: Stop = "refused" if refusal else STOPS.get(as_text(choice.get("finish_reason")), "done")
    return Reply(
        refusal or as_text(message.get("content")),
        stop,
        count(usage.get("prompt_tokens")),
        count(usage.get("completion_tokens")),
        model=as_text(told.get("model")),
        token_probabilities=_probabilities(choice.get("logprobs")),
    )


def _probabilities(told: Any) -> dict[str, float] | None:
    """Of the first token that is a number, which is the grade in an answer that our schema holds."""
    for token in (told or {}).get("content") or ():
        if as_text(token.get("token")).strip().isdigit():
            return {as_text(one["token"]): math.exp(one["logprob"]) for one in token.get("top_logprobs") or [token]}
    return None


OPENAI = Protocol(
    name="openai",
    title="OpenAI and compatible servers",
    description="Chat completions: OpenAI, vLLM, Ollama, llama.cpp, Azure, OpenRouter and most others.",
    base_url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    path=lambda model: "/chat/completions",
    headers=_headers,
    body=_body,
    read=_read,
)
