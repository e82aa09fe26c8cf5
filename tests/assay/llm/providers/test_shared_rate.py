"""Tests of request pacing over real HTTP: shared rate limits, Retry-After, requests in flight."""

from __future__ import annotations

import email.utils
import threading
import time

import pytest

from assay.core.errors import NotValid
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.limits import Bucket, Limits, Pace, pace_of
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.responses import retry_after
from tests.assay.llm.providers.questions import QUICK, ask_server
from tests.model_server import Answer, ModelServer, serving


def test_a_provider_that_asks_for_patience_gets_it() -> None:
    came: list[float] = []

    def answer(prompt: str, number: int) -> Answer:
        came.append(time.monotonic())
        return Answer("slow down", status=429, headers={"Retry-After": "1"}) if number == 1 else Answer()

    with serving(answer) as server:
        ask_server(server, 1, limits=Limits(concurrency=1, attempts=2, longest_wait=5))
    assert came[1] - came[0] >= 1.0


def test_a_provider_that_asks_for_more_patience_than_there_is_is_left_alone() -> None:
    with serving(lambda prompt, number: Answer("quota", status=429, headers={"Retry-After": "3600"})) as server:
        ended, replies = ask_server(server, 100)
    assert (ended.end, replies) == ("down", {})
    assert "wait 3,600 s" in ended.message
    assert len(server.requests) <= QUICK.concurrency


def test_retry_after_of_one_question_delays_all() -> None:
    came: list[float] = []

    limits = Limits(concurrency=2, attempts=2, longest_wait=5)

    def answer(prompt: str, number: int) -> Answer:
        came.append(time.monotonic())
        if number == 1:
            # One more is on its way by then: it is answered once the first one was told, and leads to no other.
            while len(came) < 2 and time.monotonic() < came[0] + 10:
                time.sleep(0.005)
            return Answer("slow down", status=429, headers={"Retry-After": "1"})
        while number == 2 and not pace.take(0, 0) and time.monotonic() < came[0] + 10:
            time.sleep(0.005)
        return Answer()

    with serving(answer) as server:
        pace = pace_under(server, limits)
        ask_server(server, 8, limits=limits)
    assert all(moment - came[0] >= 1.0 for moment in came[2:])


def test_two_judges_under_one_key_share_what_it_grants_a_minute() -> None:
    limits = Limits(concurrency=4, per_minute=600)  # sixty at once, then ten a second
    with serving() as server:
        assert both(server, limits, "one-key", "one-key") >= 1.9
        paces = [pace_under(server, limits, key) for key in ("one-key", "one-key", "another-key")]
    assert paces[0] is paces[1]
    assert paces[0] is not paces[2]


def test_two_judges_with_one_key_share_the_concurrency_limit() -> None:
    limits = Limits(concurrency=4)
    crowd = threading.Event()

    def answer(prompt: str, number: int) -> Answer:
        if server.at_once > 4:
            crowd.set()
        crowd.wait(60)
        return Answer()

    with serving(answer) as server:
        both(server, Limits(concurrency=4, timeout=60), "one-key", "another-key")
        assert server.most_at_once > 4
    with serving(lambda prompt, number: Answer(wait=0.05)) as server:
        both(server, limits, "one-key", "one-key")
        assert (server.most_at_once, len(server.requests)) == (4, 80)


def pace_under(server: ModelServer, limits: Limits, key: str = "") -> Pace:
    """How those are paced who ask this server under the key."""
    return pace_of(Endpoint(PROTOCOLS["openai"], "a-model", server.url, key), limits)


def both(server: ModelServer, limits: Limits, *keys: str) -> float:
    """How long it takes two judges, who begin together, to ask forty questions each."""
    threads = [
        threading.Thread(target=ask_server, args=(server, 40), kwargs={"limits": limits, "key": key}) for key in keys
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


def test_a_bucket_lends_and_makes_the_next_wait() -> None:
    bucket = Bucket(600)  # ten a second, sixty at once
    began = time.monotonic()
    assert bucket.take(60) == 0
    waits = [bucket.take(10), bucket.take(10)]
    # What went by meanwhile came in again.
    passed = time.monotonic() - began
    assert all(owed - passed - 1e-9 <= wait <= owed for wait, owed in zip(waits, (1.0, 2.0), strict=True))
    assert Bucket(None).take(10**9) == 0


def test_patience_as_a_date() -> None:
    seconds = retry_after(email.utils.formatdate(time.time() + 3000, usegmt=True))
    assert seconds == pytest.approx(3000, abs=100)
    assert retry_after(email.utils.formatdate(time.time() - 30, usegmt=True)) == 0
    assert retry_after("inf") is None


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"attempts": 0}, {"timeout": 0}, {"per_minute": -1}])
def test_limits_that_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(NotValid):
        Limits(**wrong)  # type: ignore[arg-type]
