"""Tests of response classification over real HTTP: answers, refusals, filters, bad requests, outages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.llm.model_reply import read_grade
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.limits import Limits
from tests.assay.llm.providers.questions import QUICK, ask_server
from tests.model_server import Answer, serving


@pytest.mark.parametrize(
    ("protocol", "status", "fields"),
    [
        ("openai", 400, {"code": "content_filter", "param": "prompt", "innererror": {"code": "Responsible"}}),
        ("openai", 403, {"code": 403, "metadata": {"reasons": ["violence"], "flagged_input": "..."}}),
        ("openai", 200, {"code": 403, "metadata": {"reasons": ["violence"], "flagged_input": "..."}}),
        ("anthropic", 400, {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}),
    ],
)
def test_a_text_that_is_moderated_is_blocked_and_not_the_end(
    protocol: str, status: int, fields: dict[str, Any]
) -> None:
    def answer(prompt: str, number: int) -> Answer:
        body = json.dumps({"error": {"message": "The input was flagged", **fields}}).encode()
        return Answer(status=status, body=body) if prompt.endswith(("1", "3", "5", "7", "9")) else Answer()

    with serving(answer) as server:
        ended, replies = ask_server(server, 12, protocol=protocol, limits=Limits(concurrency=1, attempts=3))
    names = [read_grade(replies[f"k{at}"], (0, 1, 2, 3)).name for at in range(12)]
    assert (ended.end, ended.attempts) == ("done", 12)
    assert names == ["graded", "blocked"] * 6
    assert replies["k1"].text


def test_a_key_without_the_right_is_still_the_end() -> None:
    body = json.dumps({"error": {"code": 403, "message": "no access", "metadata": {"provider_name": "x"}}}).encode()
    with serving(lambda prompt, number: Answer(status=403, body=body)) as server:
        assert ask_server(server, 50)[0].end == "refused"


def test_failure_behind_status_200_is_retried() -> None:
    body = json.dumps({"error": {"code": 502, "message": "the model is down"}}).encode()
    with serving(lambda prompt, number: Answer(body=body) if number == 1 else Answer()) as server:
        ended, replies = ask_server(server, 1)
    assert (ended.attempts, replies["k0"].fault) == (2, "")


def test_one_question_that_is_refused_for_itself_is_one_failure() -> None:
    def answer(prompt: str, number: int) -> Answer:
        return Answer("the context is too long", status=400) if prompt.endswith(" 5") else Answer()

    with serving(answer) as server:
        ended, replies = ask_server(server, 12)
    assert (ended.end, ended.attempts) == ("done", 12)
    assert "too long" in replies["k5"].fault
    assert sum(bool(reply.fault) for reply in replies.values()) == 1


def test_questions_that_are_all_refused_end_the_run() -> None:
    with serving(lambda prompt, number: Answer("unknown parameter", status=400)) as server:
        ended, _ = ask_server(server, 200)
    assert ended.end == "refused"
    assert "unknown parameter" in ended.message
    assert len(server.requests) <= 5 + QUICK.concurrency


@pytest.mark.parametrize("body", [b"<html>gateway</html>", b'{"choices": []}', b"[]", b'{"choices": [{"message": 3}]}'])
def test_invalid_answers_are_failures_and_not_grades(body: bytes) -> None:
    def answer(prompt: str, number: int) -> Answer:
        return Answer(body=body) if prompt.endswith(" 1") else Answer()

    with serving(answer) as server:
        _, replies = ask_server(server, 3)
    assert read_grade(replies["k1"], (0, 1, 2, 3)).name == "transport_error"
    assert read_grade(replies["k2"], (0, 1, 2, 3)).grade == 2


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_busy_provider_is_retried(status: int) -> None:
    failed: set[str] = set()

    def answer(prompt: str, number: int) -> Answer:
        first = prompt not in failed
        failed.add(prompt)
        return Answer("busy", status=status) if first else Answer()

    with serving(answer) as server:
        ended, replies = ask_server(server, 6)
    assert (ended.end, ended.answered, ended.attempts) == ("done", 6, 12)
    assert not any(reply.fault for reply in replies.values())


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize(("stop", "outcome"), [("length", "truncated"), ("filtered", "blocked")])
def test_why_a_model_stopped_is_known(protocol: str, stop: str, outcome: str) -> None:
    with serving(lambda prompt, number: Answer("cut", stop=stop)) as server:
        _, replies = ask_server(server, 1, protocol=protocol)
    # Anthropic has one word for a filter and a refusal.
    expected = "refused" if (protocol, stop) == ("anthropic", "filtered") else outcome
    assert read_grade(replies["k0"], (0, 1)).name == expected


def openai(reason: str, **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": "2", **message}, "finish_reason": reason}]}


def anthropic(reason: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "2"}], "stop_reason": reason}


def gemini(reason: str, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": "2"}]}, "finishReason": reason}], **more}


@pytest.mark.parametrize(
    ("protocol", "content", "outcome"),
    [
        # In the makers' own words, whether or not a grade is visible.
        ("openai", openai("length"), "truncated"),
        ("openai", openai("model_length"), "truncated"),
        ("openai", openai("insufficient_system_resource"), "truncated"),
        ("openai", openai("content_filter"), "blocked"),
        ("openai", openai("stop", content=None, refusal="I cannot help with that."), "refused"),
        ("anthropic", anthropic("max_tokens"), "truncated"),
        ("anthropic", anthropic("model_context_window_exceeded"), "truncated"),
        ("anthropic", anthropic("refusal"), "refused"),
        ("anthropic", {"content": [], "stop_reason": "refusal"}, "refused"),
        ("gemini", gemini("MAX_TOKENS"), "truncated"),
        ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}]}, "truncated"),
        ("gemini", gemini("SAFETY"), "blocked"),
        ("gemini", {"candidates": [{"finishReason": "SAFETY"}]}, "blocked"),
        ("gemini", gemini("RECITATION"), "blocked"),
        ("gemini", gemini("PROHIBITED_CONTENT"), "blocked"),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "blocked"),
        ("gemini", gemini("STOP", promptFeedback={"blockReason": "OTHER"}), "blocked"),
    ],
)
def test_every_word_for_a_stop_is_the_outcome_that_it_means(
    protocol: str, content: dict[str, Any], outcome: str
) -> None:
    with serving(lambda prompt, number: Answer(body=json.dumps(content).encode())) as server:
        ended, replies = ask_server(server, 1, protocol=protocol)
    assert (ended.end, read_grade(replies["k0"], (0, 1, 2)).name) == ("done", outcome)


def test_refusal_differs_from_an_answer() -> None:
    with serving(lambda prompt, number: Answer("I cannot help with that.", stop="refused")) as server:
        _, replies = ask_server(server, 1)
    assert read_grade(replies["k0"], (0, 1)).name == "refused"


def test_cut_message_contains_no_part_of_the_key() -> None:
    key = "sk-a-long-secret"
    body = json.dumps({"error": {"message": "x" * 290 + key}}).encode()
    with serving(lambda prompt, number: Answer(status=401, body=body)) as server:
        ended, _ = ask_server(server, 1, key=key)
    assert ended.end == "refused"
    assert key[:4] not in ended.message
