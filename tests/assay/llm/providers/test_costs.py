"""Tests of call and money limits over real HTTP: never exceeded, all paid tokens counted."""

from __future__ import annotations

import json

import pytest

from assay.core.errors import NotValid
from assay.llm.providers import PROTOCOLS, Question
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import ask
from tests.assay.llm.providers.questions import SCHEMA, ask_server, questions
from tests.model_server import Answer, serving


def test_calls_have_a_limit_that_is_never_passed() -> None:
    with serving() as server:
        budget = Budget(calls=7)
        ended, replies = ask_server(server, 100, budget=budget)
        assert (ended.end, len(replies), len(server.requests)) == ("budget", 7, 7)
        again, _ = ask_server(server, 100, budget=budget)
    assert (again.end, again.answered) == ("budget", 0)


def test_money_has_a_limit_that_is_never_passed() -> None:
    with serving() as server:
        # A question may cost (some 600 * 1 + 400 * 4) / 1e6 at most, and costs far less.
        budget = Budget(usd=0.004)
        ended, replies = ask_server(server, 2_000, budget=budget, limits=Limits(concurrency=16))
    spent = sum(reply.cost_usd or 0 for reply in replies.values())
    assert ended.end == "budget"
    assert ended.message.startswith("the limit is reached: 0.00")
    assert budget.spent == pytest.approx(spent)
    assert 0.0015 < spent <= 0.004


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize("text", ["防水的双人帐篷" * 60, "tent " * 90, "\u0001\U0001f3d5" * 40])
def test_money_holds_where_every_byte_is_a_token(protocol: str, text: str) -> None:
    def dear(prompt: str, number: int) -> Answer:
        # The dearest that a provider can be: a token a byte, the schema and its own words too, the longest answer.
        body = json.dumps(server.requests[number - 1][2], ensure_ascii=False, separators=(",", ":"))
        wrapping = PROTOCOLS[protocol].wrapping
        return Answer(read=len(body.encode()) + wrapping, written=100, wait=0.01)

    questions = [Question(f"k{at}", "You judge.", f"{text} {at}", SCHEMA, 100) for at in range(40)]
    spent: list[float] = []
    with serving(dear) as server:
        endpoint = Endpoint(PROTOCOLS[protocol], "a-model", server.url, price_in=3.0, price_out=15.0)
        cap = 7.5 * (endpoint.most_cost(questions[0]) or 0.0)
        ended = ask(
            endpoint,
            questions,
            lambda question, reply: spent.append(reply.cost_usd or 0.0),
            limits=Limits(concurrency=16),
            budget=Budget(usd=cap),
        )
    assert (ended.end, len(spent)) == ("budget", 7)
    assert 0.9 * cap < sum(spent) <= cap


def test_tokens_added_by_a_server_count_after_the_first_answer() -> None:
    with serving(lambda prompt, number: Answer(read=50_000, written=900)) as server:
        budget = Budget(usd=1.0)
        ended, replies = ask_server(server, 100, budget=budget, limits=Limits(concurrency=1))
    assert ended.end == "budget"
    assert (len(replies), budget.spent) == (18, pytest.approx(18 * 0.0536))


def test_a_limit_in_money_needs_prices() -> None:
    with serving() as server, pytest.raises(NotValid, match="price"):
        ask(Endpoint(PROTOCOLS["openai"], "m", server.url), questions(1), lambda *_: None, budget=Budget(usd=1))
    assert server.requests == []


def test_thoughts_are_paid_for_as_words() -> None:
    with serving(lambda prompt, number: Answer(thought=250)) as server:
        _, replies = ask_server(server, 1, protocol="gemini")
    written = 250 + len(Answer().text) // 4
    assert replies["k0"].tokens_out == written
    assert replies["k0"].cost_usd == pytest.approx(((replies["k0"].tokens_in or 0) + 4 * written) / 1e6)


@pytest.mark.parametrize(
    ("protocol", "usage", "expected"),
    [
        ("openai", {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}, (100, 20)),
        ("openai", {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 420}, (100, 320)),
        ("openai", {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 0}, (100, 20)),
        ("openai", {"prompt_tokens": 100, "completion_tokens": None, "total_tokens": 9}, (100, None)),
        ("anthropic", {"input_tokens": 5, "cache_read_input_tokens": 90, "output_tokens": 20}, (95, 20)),
        ("anthropic", {"input_tokens": 5, "cache_creation_input_tokens": 7, "output_tokens": 20}, (12, 20)),
        ("gemini", {"promptTokenCount": 100, "thoughtsTokenCount": 300}, (100, 300)),
        ("gemini", {"promptTokenCount": 100}, (100, None)),
    ],
)
def test_separately_counted_tokens_are_counted(
    protocol: str, usage: dict[str, int | None], expected: tuple[int | None, int | None]
) -> None:
    bodies = {
        "openai": {"choices": [{"message": {"content": "{}"}}], "usage": usage},
        "anthropic": {"content": [{"type": "text", "text": "{}"}], "usage": usage},
        "gemini": {"candidates": [{"content": {"parts": [{"text": "{}"}]}}], "usageMetadata": usage},
    }
    with serving(lambda prompt, number: Answer(body=json.dumps(bodies[protocol]).encode())) as server:
        _, replies = ask_server(server, 1, protocol=protocol)
    assert (replies["k0"].tokens_in, replies["k0"].tokens_out) == expected
