"""Is a provider asked as fast as it allows, by all together, and left alone when it says so? Over real HTTP."""

from __future__ import annotations

import email.utils
import threading
import time

import pytest

from judgments.core.errors import NotValid
from judgments.providers.limits import Bucket, Limits
from judgments.providers.responses import retry_after
from tests.judgments.providers.asked import QUICK, asked
from tests.model_server import Answer, ModelServer, serving


def test_a_provider_that_asks_for_patience_gets_it() -> None:
    came: list[float] = []

    def answer(prompt: str, number: int) -> Answer:
        came.append(time.monotonic())
        return Answer("slow down", status=429, headers={"Retry-After": "1"}) if number == 1 else Answer()

    with serving(answer) as server:
        asked(server, 1, limits=Limits(concurrency=1, attempts=2, longest_wait=5))
    assert came[1] - came[0] >= 1.0


def test_a_provider_that_asks_for_more_patience_than_there_is_is_left_alone() -> None:
    with serving(lambda prompt, number: Answer("quota", status=429, headers={"Retry-After": "3600"})) as server:
        ended, replies = asked(server, 100)
    assert (ended.end, replies) == ("down", {})
    assert "left alone for 3,600 s" in ended.said
    assert len(server.requests) <= QUICK.concurrency


def test_one_question_that_is_told_to_wait_speaks_for_all() -> None:
    came: list[float] = []

    def answer(prompt: str, number: int) -> Answer:
        came.append(time.monotonic())
        return Answer("slow down", status=429, headers={"Retry-After": "0.5"}) if number == 1 else Answer(wait=0.05)

    with serving(answer) as server:
        asked(server, 8, limits=Limits(concurrency=2, attempts=2, longest_wait=5))
    # One more was on its way by then.
    assert all(moment - came[0] >= 0.5 for moment in came[2:])


def test_two_judges_under_one_key_share_what_it_grants_a_minute() -> None:
    limits = Limits(concurrency=4, per_minute=600)  # sixty at once, then ten a second
    with serving() as server:
        assert both(server, limits, "one-key", "another-key") < 1.5
    with serving() as server:
        assert both(server, limits, "one-key", "one-key") >= 1.9


def test_two_judges_under_one_key_share_the_places_in_flight() -> None:
    limits = Limits(concurrency=4)
    with serving(lambda prompt, number: Answer(wait=0.05)) as server:
        both(server, limits, "one-key", "another-key")
        assert server.most_at_once > 4
    with serving(lambda prompt, number: Answer(wait=0.05)) as server:
        both(server, limits, "one-key", "one-key")
        assert (server.most_at_once, len(server.requests)) == (4, 80)


def both(server: ModelServer, limits: Limits, *keys: str) -> float:
    """How long it takes two judges, who begin together, to ask forty questions each."""
    threads = [threading.Thread(target=asked, args=(server, 40), kwargs={"limits": limits, "key": key}) for key in keys]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


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
