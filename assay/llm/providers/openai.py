"""OpenAI's protocol, also used by vLLM, Ollama, llama.cpp, Azure and OpenRouter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.llm.model_reply import Reply, Stop
from assay.llm.providers.protocol import Protocol, Question, as_text, count, of_grade
from assay.llm.providers.responses import codes_of, words_of

STOPS: dict[str, Stop] = {
    "stop": "done",
    "length": "length",
    # Mistral's and DeepSeek's terms for a truncated answer.
    "model_length": "length",
    "insufficient_system_resource": "length",
    "content_filter": "filtered",
}
FILTERS = ("content_filter", "content_policy_violation")
TOP_LOGPROBS = 10
# Error codes with status 400 or 429 which mean that no question will be answered: the account is empty, or the key or
# model is invalid.
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
# Messages about the key from Gemini's server, which also uses this protocol.
NO_KEY = ("api key not valid", "api key expired", "incorrect api key")
# Reasoning models accept no temperature and use another name for the token limit; they reject the usual parameters.
REASONING = re.compile(r"(?:\A|/)(?:o[1-9]|gpt-[5-9])(?![0-9a-z])")


def _headers(key: str) -> dict[str, str]:
    # Azure reads the second header and other servers the first; each ignores the other.
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
        body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return body


def thinks(question: Question, model: str) -> bool:
    """Return whether a model reasons before it answers, by its setting or by its name."""
    return REASONING.search(model) is not None if question.thinks is None else question.thinks


def _read(body: Mapping[str, Any]) -> Reply:
    choice = body["choices"][0]
    message = choice["message"]
    refusal = as_text(message.get("refusal"))
    stop: Stop = "refused" if refusal else STOPS.get(as_text(choice.get("finish_reason")), "done")
    return Reply(
        refusal or as_text(message.get("content")),
        stop,
        *_counted(body),
        model=as_text(body.get("model")),
        token_probabilities=of_grade(_tokens(choice.get("logprobs"))),
    )


def _counted(body: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = body.get("usage") or {}
    return count(usage.get("prompt_tokens")), _written(usage)


def _written(usage: Mapping[str, Any]) -> int | None:
    """Return the output tokens, including thoughts that some servers count only in the total."""
    read, written, total = (count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    return written if written is None or read is None or total is None else max(written, total - read)


def _moderated(status: int, body: Mapping[str, Any]) -> bool:
    """Return whether a filter rejected the text; other responses with status 403 concern the key."""
    error = body.get("error")
    if not isinstance(error, Mapping):
        return False
    flagged = error.get("metadata")
    if status == 403:
        return isinstance(flagged, Mapping) and bool(flagged.get("reasons") or flagged.get("flagged_input"))
    return status == 400 and error.get("code") in FILTERS


def _hopeless(status: int, body: Mapping[str, Any]) -> bool:
    """Return whether the account is empty or the key is wrong; rate limits share the status."""
    return status in (400, 429) and (not EMPTY.isdisjoint(codes_of(body)) or words_of(body).startswith(NO_KEY))


def _tokens(logprobs: Any) -> list[tuple[str, dict[str, float]]]:
    """Return each token with its alternatives; nothing if the response has them in another form."""
    try:
        return [(one["token"], _logarithms([one, *(one.get("top_logprobs") or ())])) for one in logprobs["content"]]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return []


def _logarithms(candidates: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {as_text(one["token"]): float(one["logprob"]) for one in candidates}


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
