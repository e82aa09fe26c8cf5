"""Tests of hostile provider responses over real HTTP: each ends as an outcome and never ends the run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.llm.model_reply import Reply, read_grade
from assay.llm.providers import PROTOCOLS, Question
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import ask
from tests.assay.llm.providers.questions import ask_server
from tests.model_server import Answer, serving

HUGE = int("9" * 400)
DEEP = "[" * 900 + "]" * 900
MESSAGE = {"message": {"role": "assistant", "content": '{"grade": 1}'}, "finish_reason": "stop"}


def reply_body(**more: Any) -> bytes:
    return json.dumps({"choices": [MESSAGE], "model": "m", **more}).encode()


def of_token(logprob: Any, top: Any = ()) -> bytes:
    tokens = [{"token": '{"grade": 1}', "logprob": logprob, "top_logprobs": top}]
    return reply_body(choices=[{**MESSAGE, "logprobs": {"content": tokens}}])


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (reply_body(usage={"prompt_tokens": HUGE, "completion_tokens": 1}), "graded"),
        (reply_body(usage={"prompt_tokens": 10**12, "completion_tokens": 10**12, "total_tokens": HUGE}), "graded"),
        (reply_body(usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": HUGE}), "graded"),
        (reply_body(usage=[1]), "transport_error"),
        (of_token(HUGE), "graded"),
        (of_token(-0.1, [{"token": " 1", "logprob": -HUGE}]), "graded"),
        (of_token("NaN"), "graded"),
        (reply_body(model="m" * 100_000), "graded"),
        (f'{{"choices": {DEEP}}}'.encode(), "transport_error"),
        (f'{{"error": {DEEP}}}'.encode(), "transport_error"),
        (f'{{"choices": [{{"message": {{"content": {DEEP}}}}}]}}'.encode(), "transport_error"),
        (b"\xff\xfe\x00", "transport_error"),
        (b"{" * 1_000_000, "transport_error"),
        (b"9" * 1_000_000, "transport_error"),
    ],
)
def test_provider_messages_do_not_end_a_run(body: bytes, outcome: str) -> None:
    replies: list[Reply] = []
    with serving(lambda prompt, number: Answer(body=body)) as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "a-model", server.url, price_in=1.0, price_out=4.0)
        question = Question("k", "", "Document", probabilities=True)
        ended = ask(endpoint, [question], lambda _, reply: replies.append(reply), limits=Limits(1, attempts=1))
    (reply,) = replies
    assert (ended.end, read_grade(reply, (0, 1)).name) == ("done", outcome)
    # What a database holds: a number of 32 bits, and not more money than numbers have.
    assert all(number is None or number < 2**31 for number in (reply.tokens_in, reply.tokens_out))


@pytest.mark.parametrize(
    "header", ["1e999", "-5", "NaN", "Mon, 01 Jan 0001 00:00:00 GMT", "Mon, 32 Jan 99999", "\u00b2"]
)
def test_an_odd_retry_after_ends_no_run(header: str) -> None:
    limits = Limits(1, attempts=2, longest_wait=0.01)
    with serving(lambda prompt, number: Answer("busy", status=429, headers={"Retry-After": header})) as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "a-model", server.url)
        ended = ask(endpoint, [Question("k", "", "Document")], lambda *_: None, limits=limits)
    assert ended.end in ("done", "down")


KEY = "sk-a-key-that-nobody-may-read"


@pytest.mark.parametrize("protocol", ["openai", "anthropic", "gemini"])
def test_a_server_that_says_the_key_again_does_not_write_it_down(protocol: str) -> None:
    text = f'{{"reason": "you sent Bearer {KEY}", "grade": 1}}'
    with serving(lambda prompt, number: Answer(text, model=f"model-{KEY}")) as server:
        ended, replies = ask_server(server, 1, protocol=protocol, key=KEY)
    (reply,) = replies.values()
    assert (ended.end, read_grade(reply, (0, 1)).grade) == ("done", 1)
    assert KEY not in f"{reply!r} {ended!r}"


def test_common_placeholder_keys_are_not_masked() -> None:
    with serving(lambda prompt, number: Answer('{"reason": "none of it", "grade": 0}')) as server:
        _, replies = ask_server(server, 1, key="none")
    assert "none of it" in replies["k0"].text
