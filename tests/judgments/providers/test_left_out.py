"""Tests of refused request fields over real HTTP: each is omitted from then on and reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judgments.judges.answers import Reply, read_grade
from judgments.providers import PROTOCOLS, Question
from judgments.providers.calls import Ended, ask
from judgments.providers.limits import Limits
from judgments.providers.protocol import Endpoint
from tests.judgments.providers.asked import SCHEMA
from tests.model_server import Answer, ModelServer, serving

ONE = Limits(concurrency=1, attempts=1, timeout=5)


def asked_all(server: ModelServer, protocol: str, model: str = "a-model", **more: Any) -> tuple[Ended, list[Reply]]:
    endpoint = Endpoint(PROTOCOLS[protocol], model, server.url, price_in=1.0, price_out=4.0, **more)
    told = [Question(f"k{at}", "", f"Document {at}", SCHEMA, seed=3, probabilities=True) for at in range(6)]
    replies: list[Reply] = []
    return ask(endpoint, told, lambda _, reply: replies.append(reply), limits=ONE), replies


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
def test_what_a_model_refuses_is_left_out_once(
    protocol: str, status: int, error: dict[str, Any], field: str, name: str
) -> None:
    with serving() as server:

        def answer(prompt: str, number: int) -> Answer:
            sent = json.dumps(server.requests[number - 1][2])
            body = json.dumps(error if "detail" in error else {"error": error}).encode()
            return Answer(status=status, body=body) if f'"{field}"' in sent else Answer()

        server.answer = answer
        ended, replies = asked_all(server, protocol)
    # One request more than questions: the next ones know.
    assert (ended.end, len(server.requests), len(replies)) == ("done", 7, 6)
    assert {read_grade(reply, (0, 1, 2, 3)).grade for reply in replies} == {2}
    assert all(name in reply.left_out for reply in replies)


def test_a_model_that_wants_other_words_for_the_length_is_asked_in_them() -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    body = json.dumps({"error": {"message": said, "param": "max_tokens", "code": "unsupported_parameter"}}).encode()
    with serving() as server:
        server.answer = lambda prompt, number: (
            Answer(status=400, body=body) if "max_tokens" in server.requests[number - 1][2] else Answer()
        )
        ended, replies = asked_all(server, "openai", "a-name-that-tells-nothing")
    assert (ended.end, len(server.requests)) == ("done", 7)
    assert server.requests[-1][2]["max_completion_tokens"] == 400
    assert all("temperature" in reply.left_out for reply in replies)


def test_a_model_that_refuses_one_thing_after_the_other_is_asked_until_nothing_is_left_to_leave_out() -> None:
    with serving() as server:

        def answer(prompt: str, number: int) -> Answer:
            sent = server.requests[number - 1][2]
            named = next((one for one in ("temperature", "seed", "response_format", "logprobs") if one in sent), None)
            return Answer(f"{named} is not supported", status=400) if named else Answer()

        server.answer = answer
        ended, replies = asked_all(server, "openai")
    assert (ended.end, len(server.requests)) == ("done", 4 + 6)
    assert set(replies[0].left_out) == {"temperature", "seed", "schema", "probabilities"}


def test_a_server_that_goes_on_naming_what_it_was_not_told_is_no_loop() -> None:
    with serving(lambda prompt, number: Answer("temperature and seed are not supported", status=400)) as server:
        ended, replies = asked_all(server, "openai")
    # The first time it is told neither any more; five refusals of all questions are the end.
    assert (ended.end, len(server.requests)) == ("refused", 6)
    assert all(reply.fault for reply in replies)


def test_a_text_that_names_a_part_of_a_question_leaves_nothing_out() -> None:
    # Behind its words a server repeats what it was sent.
    said = f"input too long: {'x ' * 300} what is the best temperature for a seed? {json.dumps(SCHEMA)}"
    with serving() as server:
        server.answer = lambda prompt, number: Answer(said, status=400) if prompt.endswith(" 2") else Answer()
        ended, replies = asked_all(server, "openai")
    assert (ended.end, len(server.requests), sum(bool(one.fault) for one in replies)) == ("done", 6, 1)
    assert not any(reply.left_out for reply in replies)


def test_what_is_known_beforehand_is_never_sent() -> None:
    with serving() as server:
        ended, replies = asked_all(server, "openai", left_out=frozenset({"schema", "seed"}), thinks=True)
    assert (ended.end, len(server.requests)) == ("done", 6)
    sent = server.requests[0][2]
    assert not {"response_format", "seed", "temperature", "max_tokens"} & set(sent)
    assert (sent["max_completion_tokens"], sent["logprobs"]) == (400, True)
    assert replies[0].left_out == ("temperature", "seed", "schema")


def test_a_model_that_thinks_by_its_name_can_be_said_not_to() -> None:
    with serving() as server:
        asked_all(server, "openai", "gpt-5-of-ours", thinks=False)
    assert (server.requests[0][2]["max_tokens"], server.requests[0][2]["temperature"]) == (400, 0.0)


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [("openai", ()), ("anthropic", ("seed", "probabilities")), ("gemini", ())],
)
def test_what_a_protocol_has_no_word_for_is_said(protocol: str, expected: tuple[str, ...]) -> None:
    with serving() as server:
        _, replies = asked_all(server, protocol)
    assert replies[0].left_out == expected
