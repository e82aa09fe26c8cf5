"""Tests of refused request fields over real HTTP: each is omitted from then on and reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.llm.model_reply import Reply, read_grade
from assay.llm.providers import PROTOCOLS, Question
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Ended, ask
from tests.assay.llm.providers.questions import SCHEMA
from tests.model_server import Answer, ModelServer, serving

ONE = Limits(concurrency=1, attempts=1, timeout=5)


def ask_all(server: ModelServer, protocol: str, model: str = "a-model", **more: Any) -> tuple[Ended, list[Reply]]:
    endpoint = Endpoint(PROTOCOLS[protocol], model, server.url, price_in=1.0, price_out=4.0, **more)
    questions = [Question(f"k{at}", "", f"Document {at}", SCHEMA, seed=3, probabilities=True) for at in range(6)]
    replies: list[Reply] = []
    return ask(endpoint, questions, lambda _, reply: replies.append(reply), limits=ONE), replies


@pytest.mark.parametrize(
    ("protocol", "status", "error", "field", "name"),
    [
        # As the makers' servers say it, and the servers that speak as they do.
        (
            "anthropic",
            400,
            {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."},
            "temperature",
            "temperature",
        ),
        (
            "anthropic",
            400,
            {
                "type": "invalid_request_error",
                "message": "tool_choice forces tool use is not compatible with this model",
            },
            "tools",
            "schema",
        ),
        (
            "openai",
            400,
            {
                "message": "Unsupported value: 'temperature' does not support 0.0 with this model.",
                "param": "temperature",
                "code": "unsupported_value",
            },
            "temperature",
            "temperature",
        ),
        (
            "openai",
            400,
            {"message": "Unsupported parameter: 'logprobs' is not supported with this model.", "param": "logprobs"},
            "logprobs",
            "probabilities",
        ),
        (
            "openai",
            400,
            {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model"},
            "response_format",
            "schema",
        ),
        (
            "openai",
            403,
            {"message": "You are not allowed to request logprobs from this model."},
            "logprobs",
            "probabilities",
        ),
        (
            "openai",
            422,
            {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
            "seed",
            "seed",
        ),
        (
            "gemini",
            400,
            {"code": 400, "message": "JSON mode is not enabled for this model"},
            "responseSchema",
            "schema",
        ),
        (
            "gemini",
            400,
            {"code": 400, "message": "Logprobs is not enabled for this model"},
            "logprobs",
            "probabilities",
        ),
    ],
)
def test_a_refused_field_is_left_out_once(
    protocol: str, status: int, error: dict[str, Any], field: str, name: str
) -> None:
    with serving() as server:

        def answer(prompt: str, number: int) -> Answer:
            request = json.dumps(server.requests[number - 1][2])
            body = json.dumps(error if "detail" in error else {"error": error}).encode()
            return Answer(status=status, body=body) if f'"{field}"' in request else Answer()

        server.answer = answer
        ended, replies = ask_all(server, protocol)
    # One request more than questions: the next ones know.
    assert (ended.end, len(server.requests), len(replies)) == ("done", 7, 6)
    assert {read_grade(reply, (0, 1, 2, 3)).grade for reply in replies} == {2}
    assert all(name in reply.left_out for reply in replies)


def test_model_with_another_length_parameter_gets_it() -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported with this model; use 'max_completion_tokens'."
    body = json.dumps({"error": {"message": message, "param": "max_tokens", "code": "unsupported_parameter"}}).encode()
    with serving() as server:
        server.answer = lambda prompt, number: (
            Answer(status=400, body=body) if "max_tokens" in server.requests[number - 1][2] else Answer()
        )
        ended, replies = ask_all(server, "openai", "a-name-that-tells-nothing")
    assert (ended.end, len(server.requests)) == ("done", 7)
    assert server.requests[-1][2]["max_completion_tokens"] == 400
    assert all("temperature" in reply.left_out for reply in replies)


def test_refused_parameters_are_removed_one_by_one() -> None:
    with serving() as server:

        def answer(prompt: str, number: int) -> Answer:
            body = server.requests[number - 1][2]
            named = next((one for one in ("temperature", "seed", "response_format", "logprobs") if one in body), None)
            return Answer(f"{named} is not supported", status=400) if named else Answer()

        server.answer = answer
        ended, replies = ask_all(server, "openai")
    assert (ended.end, len(server.requests)) == ("done", 4 + 6)
    assert set(replies[0].left_out) == {"temperature", "seed", "schema", "probabilities"}


def test_refusal_of_a_parameter_that_was_not_in_the_request_ends_the_retries() -> None:
    with serving(lambda prompt, number: Answer("temperature and seed are not supported", status=400)) as server:
        ended, replies = ask_all(server, "openai")
    # The first time it is told neither any more; five refusals of all questions are the end.
    assert (ended.end, len(server.requests)) == ("refused", 6)
    assert all(reply.fault for reply in replies)


def test_a_text_that_names_a_part_of_a_question_leaves_nothing_out() -> None:
    # Behind its words a server repeats what it was sent.
    message = f"input too long: {'x ' * 300} what is the best temperature for a seed? {json.dumps(SCHEMA)}"
    with serving() as server:
        server.answer = lambda prompt, number: Answer(message, status=400) if prompt.endswith(" 2") else Answer()
        ended, replies = ask_all(server, "openai")
    assert (ended.end, len(server.requests), sum(bool(one.fault) for one in replies)) == ("done", 6, 1)
    assert not any(reply.left_out for reply in replies)


def test_parameters_known_to_be_refused_are_left_out_from_the_start() -> None:
    with serving() as server:
        ended, replies = ask_all(server, "openai", left_out=frozenset({"schema", "seed"}), thinks=True)
    assert (ended.end, len(server.requests)) == ("done", 6)
    body = server.requests[0][2]
    assert not {"response_format", "seed", "temperature", "max_tokens"} & set(body)
    assert (body["max_completion_tokens"], body["logprobs"]) == (400, True)
    assert replies[0].left_out == ("temperature", "seed", "schema")


def test_reasoning_can_be_switched_off_for_a_model_with_a_reasoning_name() -> None:
    with serving() as server:
        ask_all(server, "openai", "gpt-5-of-ours", thinks=False)
    assert (server.requests[0][2]["max_tokens"], server.requests[0][2]["temperature"]) == (400, 0.0)


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [("openai", ()), ("anthropic", ("seed", "probabilities")), ("gemini", ())],
)
def test_unsupported_parameters_are_listed(protocol: str, expected: tuple[str, ...]) -> None:
    with serving() as server:
        _, replies = ask_all(server, protocol)
    assert replies[0].left_out == expected
