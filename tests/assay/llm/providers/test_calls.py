"""Tests of provider calls over real HTTP: limits, stored answers, outages, cancellation."""

from __future__ import annotations

import threading

import pytest

from assay.llm.model_reply import Reply, read_grade
from assay.llm.providers import PROTOCOLS, Question
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Ended, ask
from tests.assay.llm.providers.questions import QUICK, ask_server, questions
from tests.model_server import Answer, serving


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_every_protocol_sends_questions_and_reads_answers(protocol: str) -> None:
    with serving() as server:
        ended, replies = ask_server(server, 3, protocol=protocol, key="the-secret")
    assert ended == Ended("done", "", 3, 3)
    assert sorted(replies) == ["k0", "k1", "k2"]
    reply = replies["k0"]
    outcome = read_grade(reply, (0, 1, 2, 3))
    assert (outcome.name, outcome.grade, outcome.rationale) == ("graded", 2, "fits")
    assert reply.model in ("a-model", "gemini-test")
    assert reply.tokens_in is not None
    assert reply.tokens_out is not None
    assert reply.cost_usd == pytest.approx((reply.tokens_in + 4 * reply.tokens_out) / 1e6)
    _, headers, _ = server.requests[0]
    assert any("the-secret" in value for value in headers.values())


def test_the_query_string_of_an_address_is_preserved() -> None:
    with serving() as server:
        url = f"{server.url}/openai/deployments/d/?api-version=2024-10-21"
        ask(Endpoint(PROTOCOLS["openai"], "m", url), questions(1), lambda *_: None, limits=QUICK)
    assert server.requests[0][0] == "/openai/deployments/d/chat/completions?api-version=2024-10-21"


def test_half_a_character_in_a_document_ends_nothing() -> None:
    with serving() as server:
        replies: list[Reply] = []
        question = Question("k", "", "Document \ud800")
        ask(Endpoint(PROTOCOLS["openai"], "m", server.url), [question], lambda _, reply: replies.append(reply))
    assert read_grade(replies[0], (0, 1, 2, 3)).grade == 2


def test_a_wrong_key_ends_the_run_at_once_and_is_never_shown() -> None:
    with serving(lambda prompt, number: Answer("no such key: sk-very-secret", status=401)) as server:
        ended, replies = ask_server(server, 100, key="sk-very-secret")
    assert (ended.end, replies) == ("refused", {})
    assert len(server.requests) <= QUICK.concurrency
    assert "401" in ended.message
    assert "sk-very-secret" not in ended.message
    assert "sk-very-secret" not in repr(Endpoint(PROTOCOLS["openai"], "m", "http://x", "sk-very-secret"))


def test_a_provider_that_is_down_is_left_alone() -> None:
    with serving(lambda prompt, number: Answer("try later", status=503)) as server:
        ended, replies = ask_server(server, 1_000)
    assert ended.end == "down"
    assert "503" in ended.message
    assert len(replies) <= 5 + QUICK.concurrency
    assert len(server.requests) <= (5 + QUICK.concurrency) * QUICK.attempts
    assert {read_grade(reply, (0, 1)).name for reply in replies.values()} == {"transport_error"}


def test_an_unreachable_provider_counts_as_down() -> None:
    with serving() as server:
        url = server.url
    endpoint = Endpoint(PROTOCOLS["openai"], "a-model", url)
    ended = ask(endpoint, questions(50), lambda question, reply: None, limits=QUICK)
    assert ended.end == "down"
    assert "no connection" in ended.message


def test_a_hanging_question_times_out_and_the_others_are_answered() -> None:
    over = threading.Event()

    def answer(prompt: str, number: int) -> Answer:
        if prompt.endswith(" 3"):
            over.wait(60)
        return Answer()

    with serving(answer) as server:
        ended, replies = ask_server(server, 8, limits=Limits(concurrency=4, attempts=1, timeout=3))
        over.set()
    assert ended.end == "done"
    assert "within 3 s" in replies["k3"].fault
    assert sum(not reply.fault for reply in replies.values()) == 7


def test_so_many_at_once_and_no_more() -> None:
    full = threading.Event()

    def answer(prompt: str, number: int) -> Answer:
        if server.at_once >= 8:
            full.set()
        full.wait(60)
        return Answer(wait=0.05)

    with serving(answer) as server:
        ask_server(server, 40, limits=Limits(concurrency=8, timeout=60))
    assert server.most_at_once == 8


def test_a_run_is_stopped_from_outside_and_keeps_what_came() -> None:
    replies: list[str] = []
    stop = threading.Event()

    def answered(question: Question, reply: Reply) -> None:
        replies.append(question.key)
        if len(replies) == 5:
            stop.set()

    with serving() as server:
        ended = ask(
            Endpoint(PROTOCOLS["openai"], "m", server.url), questions(500), answered, limits=QUICK, stop=stop.is_set
        )
    assert ended.end == "stopped"
    assert 5 <= len(replies) <= 5 + QUICK.concurrency
    assert len(server.requests) == len(replies)


def test_questions_are_taken_lazily() -> None:
    taken: list[int] = []

    def endless():
        for place in range(10**9):
            taken.append(place)
            yield Question(f"k{place}", "", f"Document {place}")

    with serving() as server:
        ask(
            Endpoint(PROTOCOLS["openai"], "m", server.url),
            endless(),
            lambda *_: None,
            limits=QUICK,
            budget=Budget(calls=20),
        )
    assert len(taken) <= 21


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("gpt-4.1", False),
        ("gpt-5-mini", True),
        ("o3", True),
        ("openai/o4-mini", True),
        ("olmo-2", False),
        ("o1x", False),
    ],
)
def test_reasoning_models_get_their_own_parameters(model: str, thinks: bool) -> None:
    body = PROTOCOLS["openai"].body(Question("k", "", "Document", most_tokens=77), model)
    assert ("temperature" in body, body.get("max_completion_tokens")) == (not thinks, 77 if thinks else None)
    assert body.get("max_tokens") == (None if thinks else 77)
