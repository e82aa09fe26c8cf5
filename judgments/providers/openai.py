"""OpenAI's protocol, also used by vLLM, Ollama, llama.cpp, Azure and OpenRouter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgments.judges.answers import Reply, Stop
from judgments.providers.errors import codes_of, words_of
from judgments.providers.protocol import Protocol, Question, as_text, count
from judgments.providers.token_probabilities import of_grade

STOPS: dict[str, Stop] = {
    "stop": "done",
    "length": "length",
    # Mistral's and DeepSeek's words for an answer that ended before its end.
    "model_length": "length",
    "insufficient_system_resource": "length",
    "content_filter": "filtered",
}
FILTERS = ("content_filter", "content_policy_violation")
TOLD_TOKENS = 10
# Codes of errors that come with 400 or 429 and say that no question will be answered: the account is empty, the key or
# the model is none.
EMPTY = frozenset(
    {
        "insufficient_quota",
        "insufficient_balance",
        "billing_hard_limit_reached",
        "billing_not_active",
        "account_deactivated",
        "invalid_api_key",
        "api_key_invalid",
        "model_not_found",
        "model_decommissioned",
    }
)
# In words alone: Gemini's server, which speaks this protocol too, of a key.
NO_KEY = ("api key not valid", "api key expired", "incorrect api key")
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
    if thinks(question, model):
        body["max_completion_tokens"] = question.most_tokens
    else:
        body["max_tokens"] = question.most_tokens
        if question.temperature is not None:
            body["temperature"] = question.temperature
    if question.seed is not None:
        body["seed"] = question.seed
    if question.schema is not None:
        shape = {"name": "answer", "strict": True, "schema": dict(question.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    if question.probabilities:
        body |= {"logprobs": True, "top_logprobs": TOLD_TOKENS}
    return body


def thinks(question: Question, model: str) -> bool:
    """Whether a model thinks before it writes: as it is said of it, else by its name."""
    return REASONING.search(model) is not None if question.thinks is None else question.thinks


def _read(told: Mapping[str, Any]) -> Reply:
    choice = told["choices"][0]
    message = choice["message"]
    refusal = as_text(message.get("refusal"))
    stop: Stop = "refused" if refusal else STOPS.get(as_text(choice.get("finish_reason")), "done")
    return Reply(
        refusal or as_text(message.get("content")),
        stop,
        *_counted(told),
        model=as_text(told.get("model")),
        token_probabilities=of_grade(_tokens(choice.get("logprobs"))),
    )


def _counted(told: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = told.get("usage") or {}
    return count(usage.get("prompt_tokens")), _written(usage)


def _written(usage: Mapping[str, Any]) -> int | None:
    """What was written, thoughts too: some servers count those in the total alone, and all are paid for."""
    read, written, total = (count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    return written if written is None or read is None or total is None else max(written, total - read)


def _moderated(status: int, told: Mapping[str, Any]) -> bool:
    """Azure's filter, OpenAI's policy, and the moderation that OpenRouter asks for; other 403 are about the key."""
    error = told.get("error")
    if not isinstance(error, Mapping):
        return False
    flagged = error.get("metadata")
    if status == 403:
        return isinstance(flagged, Mapping) and bool(flagged.get("reasons") or flagged.get("flagged_input"))
    return status == 400 and error.get("code") in FILTERS


def _hopeless(status: int, told: Mapping[str, Any]) -> bool:
    """Too many questions and no money left come with one status."""
    return status in (400, 429) and (not EMPTY.isdisjoint(codes_of(told)) or words_of(told).startswith(NO_KEY))


def _tokens(told: Any) -> list[tuple[str, dict[str, float]]]:
    """Each token with what could have stood there; nothing where the server tells it otherwise, or not at all."""
    try:
        return [(one["token"], _logarithms([one, *(one.get("top_logprobs") or ())])) for one in told["content"]]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return []


def _logarithms(told: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {as_text(one["token"]): float(one["logprob"]) for one in told}


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
    moderated=_moderated,
    hopeless=_hopeless,
    counted=_counted,
    wrapping=256,
)
