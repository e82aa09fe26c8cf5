"""Tests of missing token counts over real HTTP: the highest possible cost is booked and limits hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.llm.model_reply import Reply
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import ask
from tests.assay.llm.providers.broken_server import cutting
from tests.assay.llm.providers.questions import ask_server, questions
from tests.model_server import Answer, serving

USAGE: dict[str, dict[str, Any]] = {
    "openai": {"choices": [{"message": {"content": '{"grade": 2}'}, "finish_reason": "stop"}]},
    "anthropic": {"content": [{"type": "text", "text": '{"grade": 2}'}], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": '{"grade": 2}'}]}, "finishReason": "STOP"}]},
}
PART = {
    "openai": {"usage": {"prompt_tokens": 1_000}},
    "anthropic": {"usage": {"input_tokens": 1_000}},
    "gemini": {"usageMetadata": {"promptTokenCount": 1_000}},
}
ONE = Limits(concurrency=1, attempts=3, timeout=0.2, longest_wait=0.01)


def most_of(url: str, protocol: str = "openai") -> float:
    """What one of these questions can cost at most."""
    endpoint = Endpoint(PROTOCOLS[protocol], "a-model", url, price_in=1.0, price_out=4.0)
    return endpoint.most_cost(questions(1)[0]) or 0.0


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_a_provider_without_counts_is_booked_at_the_highest_cost(protocol: str) -> None:
    body = json.dumps(USAGE[protocol]).encode()
    with serving(lambda prompt, number: Answer(body=body)) as server:
        most = most_of(server.url, protocol)
        budget = Budget(usd=3.5 * most)
        ended, replies = ask_server(server, 20, protocol=protocol, budget=budget)
    assert (ended.end, len(server.requests)) == ("budget", 3)
    costs = [reply.cost_usd for reply in replies.values()]
    assert costs == [pytest.approx(most)] * 3
    assert [(reply.estimated, reply.tokens_in, reply.tokens_out) for reply in replies.values()] == [
        (True, None, None)
    ] * 3
    assert budget.spent == pytest.approx(3 * most)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_of_what_is_counted_in_part_the_rest_is_booked_at_the_most(protocol: str) -> None:
    body = json.dumps({**USAGE[protocol], **PART[protocol]}).encode()
    with serving(lambda prompt, number: Answer(body=body)) as server:
        _, replies = ask_server(server, 1, protocol=protocol)
    reply = replies["k0"]
    assert (reply.cost_usd, reply.estimated) == (pytest.approx((1_000 + 4 * 400) / 1e6), True)


def test_counted_costs_are_not_estimates() -> None:
    with serving() as server:
        _, replies = ask_server(server, 1)
    assert not replies["k0"].estimated


def test_attempts_that_came_too_late_can_have_cost_as_much_as_any() -> None:
    with serving(lambda prompt, number: Answer(wait=0.5) if number <= 2 else Answer()) as server:
        most, budget = most_of(server.url), Budget(usd=1.0)
        ended, replies = ask_server(server, 1, limits=ONE, budget=budget)
    reply = replies["k0"]
    last = ((reply.tokens_in or 0) + 4 * (reply.tokens_out or 0)) / 1e6
    assert (ended.end, ended.attempts, reply.fault, reply.estimated) == ("done", 3, "", True)
    assert reply.cost_usd == pytest.approx(2 * most + last)
    assert budget.spent == pytest.approx(reply.cost_usd)


@pytest.mark.parametrize("trouble", ["late", "cut", "status 500", "status 504", "no JSON"])
def test_no_trouble_spends_more_than_the_limit(trouble: str) -> None:
    def answer(prompt: str, number: int) -> Answer:
        if trouble == "late":
            return Answer(wait=0.5)
        if trouble == "no JSON":
            return Answer(body=b"<html>")
        return Answer("down", status=int(trouble.split()[1]))

    with cutting() if trouble == "cut" else serving(answer) as server:
        most = most_of(server.url)
        budget = Budget(usd=2.5 * most)
        ended, replies = ask_server(server, 20, limits=ONE, budget=budget)
        began = ended.attempts
    # Each attempt may have been answered and counted, far away: two of them, and no third.
    assert (ended.end, began) == ("budget", 2)
    assert budget.spent == pytest.approx(2 * most)
    assert sum(reply.cost_usd or 0.0 for reply in replies.values()) == pytest.approx(2 * most)
    assert all(reply.estimated and reply.fault for reply in replies.values())


@pytest.mark.parametrize("status", [400, 429, 503, 529])
def test_rejected_calls_cost_nothing(status: int) -> None:
    with serving(lambda prompt, number: Answer("no", status=status)) as server:
        budget = Budget(usd=1.5 * most_of(server.url))
        ended, replies = ask_server(server, 2, limits=ONE, budget=budget)
    assert (ended.end, budget.spent) == ("done", 0.0)
    assert [(reply.cost_usd, reply.estimated) for reply in replies.values()] == [(0.0, False)] * 2


def test_an_unreachable_provider_costs_nothing() -> None:
    with serving() as server:
        url = server.url
    budget, replies = Budget(usd=0.01), []
    endpoint = Endpoint(PROTOCOLS["openai"], "a-model", url, price_in=1.0, price_out=4.0)
    ask(endpoint, questions(2), lambda _, reply: replies.append(reply.cost_usd), limits=ONE, budget=budget)
    assert (replies, budget.spent) == ([0.0, 0.0], 0.0)


def test_possible_cost_of_the_last_attempt_is_booked() -> None:
    def answer(prompt: str, number: int) -> Answer:
        return Answer(wait=0.5) if number == 1 else Answer("no such key", status=401)

    with serving(answer) as server:
        budget = Budget(usd=1.0)
        ended, replies = ask_server(server, 5, limits=ONE, budget=budget)
        most = most_of(server.url)
    assert ended.end == "refused"
    assert [(key, reply.cost_usd, reply.estimated) for key, reply in replies.items()] == [
        ("k0", pytest.approx(most), True)
    ]
    assert "401" in replies["k0"].fault
    assert (budget.spent, budget.calls_made) == (pytest.approx(most), 1)


def test_a_text_that_was_filtered_can_have_been_read() -> None:
    body = json.dumps({"error": {"code": "content_filter", "message": "The prompt was filtered"}}).encode()
    replies: list[Reply] = []
    with serving(lambda prompt, number: Answer(status=400, body=body)) as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "a-model", server.url, price_in=1.0, price_out=4.0)
        ask(endpoint, questions(1), lambda _, reply: replies.append(reply), limits=ONE)
    most_read = endpoint.most_read(endpoint.request(questions(1)[0]))
    assert (replies[0].cost_usd, replies[0].estimated) == (pytest.approx(most_read / 1e6), True)


def test_without_prices_nothing_is_estimated() -> None:
    replies: list[Reply] = []
    with serving(lambda prompt, number: Answer(wait=0.5) if number == 1 else Answer()) as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "a-model", server.url)
        ask(endpoint, questions(1), lambda _, reply: replies.append(reply), limits=ONE)
    assert (replies[0].cost_usd, replies[0].estimated, replies[0].fault) == (None, False, "")
