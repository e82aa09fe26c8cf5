"""Tests of fatal provider errors over real HTTP: a wrong key or empty account ends the run at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.llm.providers.limits import Budget, Limits
from tests.assay.llm.providers.questions import ask_server
from tests.model_server import Answer, serving

ONE = Limits(concurrency=1, attempts=3, timeout=5, longest_wait=0.01)
GEMINI_KEY = {
    "code": 400,
    "message": "API key not valid. Please pass a valid API key.",
    "status": "INVALID_ARGUMENT",
    "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
}
OPENAI_EMPTY = {
    "message": "You exceeded your current quota, please check your plan and billing details.",
    "type": "insufficient_quota",
    "param": None,
    "code": "insufficient_quota",
}
ANTHROPIC_EMPTY = {
    "type": "invalid_request_error",
    "message": "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
}
HOPELESS: list[tuple[str, int, Any]] = [
    ("openai", 429, {"error": OPENAI_EMPTY}),
    ("openai", 400, {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}),
    ("openai", 400, [{"error": GEMINI_KEY}]),
    ("anthropic", 400, {"type": "error", "error": ANTHROPIC_EMPTY}),
    (
        "anthropic",
        400,
        {
            "error": {
                "message": "You have reached your specified API usage limits. You will regain access on 2026-12-01"
            }
        },
    ),
    ("gemini", 400, {"error": GEMINI_KEY}),
    (
        "gemini",
        400,
        {
            "error": {
                "code": 400,
                "message": "User location is not supported for the API use.",
                "status": "FAILED_PRECONDITION",
            }
        },
    ),
    (
        "gemini",
        429,
        {"error": {"code": 429, "message": "Quota exceeded for metric: free_tier, limit: 0, model: x"}},
    ),
]


@pytest.mark.parametrize(("protocol", "status", "content"), HOPELESS)
def test_a_wrong_key_and_an_empty_account_are_the_end_at_once(protocol: str, status: int, content: Any) -> None:
    body = json.dumps(content).encode()
    # A wait that is asked for, as with too many questions, is not waited for either.
    answer = Answer(status=status, body=body, headers={"Retry-After": "3000"})
    with serving(lambda prompt, number: answer) as server:
        budget = Budget(usd=1.0)
        ended, replies = ask_server(server, 50, protocol=protocol, limits=ONE, budget=budget)
    assert (ended.end, len(server.requests), replies) == ("refused", 1, {})
    assert (budget.spent, budget.calls_made) == (0.0, 0)
    assert f"status {status}" in ended.message
    assert "no more requests were made" in ended.message


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        # Of too many questions in a minute Gemini says what OpenAI says of an empty account.
        ("gemini", "You exceeded your current quota, please check your plan and billing details. limit: 10"),
        ("openai", "Rate limit reached for a-model: Limit 500, Used 500, Requested 1"),
    ],
)
def test_too_many_questions_are_only_too_many(protocol: str, message: str) -> None:
    content = {"error": {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}}
    body = json.dumps(content).encode()
    with serving(lambda prompt, number: Answer(status=429, body=body) if number == 1 else Answer()) as server:
        ended, replies = ask_server(server, 3, protocol=protocol, limits=ONE)
    assert (ended.end, ended.attempts, len(replies)) == ("done", 4, 3)


def test_a_text_that_speaks_of_an_empty_account_ends_nothing() -> None:
    # A server that repeats what it was sent, and a document that would end the run of others.
    message = "the text is too long: insufficient_quota, your credit balance is too low, API key not valid"
    with serving(lambda prompt, number: Answer(message, status=400) if number == 2 else Answer()) as server:
        ended, _ = ask_server(server, 5, limits=ONE)
    assert (ended.end, ended.attempts) == ("done", 5)
