"""Are questions asked within limits, answers kept, and a provider in trouble left alone? Over real HTTP."""

from __future__ import annotations

import email.utils
import math
import threading
import time

import pytest

from judgments.core.errors import NotValid
from judgments.judges.answers import Reply, read_grade
from judgments.providers import PROTOCOLS, Question
from judgments.providers.calls import Ended, ask, retry_after
from judgments.providers.limits import Bucket, Budget, Limits
from judgments.providers.protocol import Endpoint
from tests.model_server import Answer, ModelServer, serving

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "grade": {"type": "integer", "enum": [0, 1, 2, 3]}},
    "required": ["reason", "grade"],
    "additionalProperties": False,
}
QUICK = Limits(concurrency=4, attempts=3, timeout=5, longest_wait=0.05)


def questions(number: int) -> list[Question]:
    return [Question(f"k{place}", "You judge.", f"Document {place}", SCHEMA) for place in range(number)]


def asked(
    server: ModelServer,
    number: int = 10,
    *,
    protocol: str = "openai",
    limits: Limits = QUICK,
    budget: Budget | None = None,
    key: str = "",
) -> tuple[Ended, dict[str, Reply]]:
    endpoint = Endpoint(PROTOCOLS[protocol], "a-model", server.url, key, price_in=1.0, price_out=4.0)
    replies: dict[str, Reply] = {}
    ended = ask(
        endpoint,
        questions(number),
        lambda question, reply: replies.update({question.key: reply}),
        limits=limits,
        budget=budget,
    )
    return ended, replies


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_every_protocol_is_asked_and_read(protocol: str) -> None:
    with serving() as server:
        ended, replies = asked(server, 3, protocol=protocol, key="the-secret")
    assert ended == Ended("done", "", 3, 3)
    assert sorted(replies) == ["k0", "k1", "k2"]
    reply = replies["k0"]
    found = read_grade(reply, (0, 1, 2, 3))
    assert (found.name, found.grade, found.rationale) == ("graded", 2, "fits")
    assert reply.model in ("a-model", "gemini-test")
    assert reply.tokens_in is not None
    assert reply.tokens_out is not None
    assert reply.cost_usd == pytest.approx((reply.tokens_in + 4 * reply.tokens_out) / 1e6)
    _, headers, _ = server.requests[0]
    assert any("the-secret" in value for value in headers.values())


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize(("stop", "outcome"), [("length", "truncated"), ("filtered", "blocked")])
def test_why_a_model_stopped_is_known(protocol: str, stop: str, outcome: str) -> None:
    with serving(lambda prompt, number: Answer("cut", stop=stop)) as server:
        _, replies = asked(server, 1, protocol=protocol)
    # Anthropic has one word for a filter and a refusal.
    expected = "refused" if (protocol, stop) == ("anthropic", "filtered") else outcome
    assert read_grade(replies["k0"], (0, 1)).name == expected


def test_a_refusal_is_told_apart_from_an_answer() -> None:
    with serving(lambda prompt, number: Answer("I cannot help with that.", stop="refused")) as server:
        _, replies = asked(server, 1)
    assert read_grade(replies["k0"], (0, 1)).name == "refused"


def test_probabilities_of_the_grade() -> None:
    with serving(lambda prompt, number: Answer('{"grade": 2}')) as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "a-model", server.url)
        replies: list[Reply] = []
        question = Question("k", "", "Document", SCHEMA, probabilities=True)
        ask(endpoint, [question], lambda _, reply: replies.append(reply), limits=QUICK)
    told = read_grade(replies[0], (0, 1, 2, 3)).probabilities
    two, three = math.exp(-0.1), math.exp(-2.5)
    assert told == pytest.approx({"0": 0, "1": 0, "2": two / (two + three), "3": three / (two + three)})


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_busy_provider_is_asked_again(status: int) -> None:
    failed: set[str] = set()

    def answer(prompt: str, number: int) -> Answer:
        first = prompt not in failed
        failed.add(prompt)
        return Answer("busy", status=status) if first else Answer()

    with serving(answer) as server:
        ended, replies = asked(server, 6)
    assert (ended.end, ended.answered, ended.attempts) == ("done", 6, 12)
    assert not any(reply.fault for reply in replies.values())


def test_a_provider_that_asks_for_patience_gets_it() -> None:
    came: list[float] = []

    def answer(prompt: str, number: int) -> Answer:
        came.append(time.monotonic())
        return Answer("slow down", status=429, headers={"Retry-After": "1"}) if number == 1 else Answer()

    with serving(answer) as server:
        asked(server, 1, limits=Limits(concurrency=1, attempts=2, longest_wait=5))
    assert came[1] - came[0] >= 1.0


def test_a_wrong_key_ends_the_run_at_once_and_is_never_shown() -> None:
    with serving(lambda prompt, number: Answer("no such key: sk-very-secret", status=401)) as server:
        ended, replies = asked(server, 100, key="sk-very-secret")
    assert (ended.end, replies) == ("refused", {})
    assert len(server.requests) <= QUICK.concurrency
    assert "401" in ended.said
    assert "sk-very-secret" not in ended.said
    assert "sk-very-secret" not in repr(Endpoint(PROTOCOLS["openai"], "m", "http://x", "sk-very-secret"))


def test_a_provider_that_is_down_is_left_alone() -> None:
    with serving(lambda prompt, number: Answer("try later", status=503)) as server:
        ended, replies = asked(server, 1_000)
    assert ended.end == "down"
    assert "503" in ended.said
    assert len(replies) <= 5 + QUICK.concurrency
    assert len(server.requests) <= (5 + QUICK.concurrency) * QUICK.attempts
    assert {read_grade(reply, (0, 1)).name for reply in replies.values()} == {"transport_error"}


def test_nobody_there_is_down_too() -> None:
    with serving() as server:
        url = server.url
    endpoint = Endpoint(PROTOCOLS["openai"], "a-model", url)
    ended = ask(endpoint, questions(50), lambda question, reply: None, limits=QUICK)
    assert ended.end == "down"
    assert "no connection" in ended.said


def test_a_question_that_hangs_is_given_up_and_the_others_are_answered() -> None:
    with serving(lambda prompt, number: Answer(wait=2.0 if prompt.endswith(" 3") else 0.0)) as server:
        ended, replies = asked(server, 8, limits=Limits(concurrency=4, attempts=1, timeout=0.4))
    assert ended.end == "done"
    assert "within 0.4 s" in replies["k3"].fault
    assert sum(not reply.fault for reply in replies.values()) == 7


def test_one_question_that_is_refused_for_itself_is_one_failure() -> None:
    def answer(prompt: str, number: int) -> Answer:
        return Answer("the context is too long", status=400) if prompt.endswith(" 5") else Answer()

    with serving(answer) as server:
        ended, replies = asked(server, 12)
    assert (ended.end, ended.attempts) == ("done", 12)
    assert "too long" in replies["k5"].fault
    assert sum(bool(reply.fault) for reply in replies.values()) == 1


def test_questions_that_are_all_refused_end_the_run() -> None:
    with serving(lambda prompt, number: Answer("unknown parameter", status=400)) as server:
        ended, _ = asked(server, 200)
    assert ended.end == "refused"
    assert "unknown parameter" in ended.said
    assert len(server.requests) <= 5 + QUICK.concurrency


@pytest.mark.parametrize("body", [b"<html>gateway</html>", b'{"choices": []}', b"[]", b'{"choices": [{"message": 3}]}'])
def test_what_is_no_answer_is_a_failure_and_not_a_grade(body: bytes) -> None:
    def answer(prompt: str, number: int) -> Answer:
        return Answer(body=body) if prompt.endswith(" 1") else Answer()

    with serving(answer) as server:
        _, replies = asked(server, 3)
    assert read_grade(replies["k1"], (0, 1, 2, 3)).name == "transport_error"
    assert read_grade(replies["k2"], (0, 1, 2, 3)).grade == 2


def test_so_many_at_once_and_no_more() -> None:
    with serving(lambda prompt, number: Answer(wait=0.05)) as server:
        asked(server, 40, limits=Limits(concurrency=8))
    assert server.most_at_once == 8


def test_calls_have_a_limit_that_is_never_passed() -> None:
    with serving() as server:
        budget = Budget(calls=7)
        ended, replies = asked(server, 100, budget=budget)
        assert (ended.end, len(replies), len(server.requests)) == ("budget", 7, 7)
        again, _ = asked(server, 100, budget=budget)
    assert (again.end, again.answered) == ("budget", 0)


def test_money_has_a_limit_that_is_never_passed() -> None:
    with serving() as server:
        # A question may cost (7 * 1 + 400 * 4) / 1e6 at most, and costs far less.
        budget = Budget(usd=0.004)
        ended, replies = asked(server, 2_000, budget=budget, limits=Limits(concurrency=16))
    spent = sum(reply.cost_usd or 0 for reply in replies.values())
    assert ended.end == "budget"
    assert budget.spent == pytest.approx(spent)
    assert 0.0015 < spent <= 0.004


def test_a_limit_in_money_needs_prices() -> None:
    with serving() as server, pytest.raises(NotValid, match="price"):
        ask(Endpoint(PROTOCOLS["openai"], "m", server.url), questions(1), lambda *_: None, budget=Budget(usd=1))
    assert server.requests == []


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


def test_an_error_of_who_asks_is_raised_and_nothing_more_asked() -> None:
    def answered(question: Question, reply: Reply) -> None:
        raise OSError("the disk is full")

    with serving() as server, pytest.raises(OSError, match="disk is full"):
        ask(Endpoint(PROTOCOLS["openai"], "m", server.url), questions(200), answered, limits=QUICK)
    assert len(server.requests) <= 2 * QUICK.concurrency


def test_questions_are_taken_as_they_are_asked() -> None:
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


def test_a_bucket_lends_and_makes_the_next_wait() -> None:
    bucket = Bucket(600)  # ten a second, sixty at once
    assert bucket.take(60) == 0
    assert bucket.take(10) == pytest.approx(1.0, abs=0.05)
    assert bucket.take(10) == pytest.approx(2.0, abs=0.05)
    assert Bucket(None).take(10**9) == 0


def test_patience_as_a_date() -> None:
    told = retry_after(email.utils.formatdate(time.time() + 30, usegmt=True))
    assert told == pytest.approx(30, abs=2)
    assert retry_after(email.utils.formatdate(time.time() - 30, usegmt=True)) == 0
    assert retry_after("inf") is None


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"attempts": 0}, {"timeout": 0}, {"per_minute": -1}])
def test_limits_that_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(NotValid):
        Limits(**wrong)  # type: ignore[arg-type]


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
def test_models_that_think_are_asked_in_their_own_words(model: str, thinks: bool) -> None:
    body = PROTOCOLS["openai"].body(Question("k", "", "Document", most_tokens=77), model)
    assert ("temperature" in body, body.get("max_completion_tokens")) == (not thinks, 77 if thinks else None)
    assert body.get("max_tokens") == (None if thinks else 77)
