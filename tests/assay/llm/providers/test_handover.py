"""Tests of answer storage over real HTTP: answers are written in groups before their threads continue."""

from __future__ import annotations

import time
from typing import Any

import pytest

from assay.llm.model_reply import Reply
from assay.llm.providers import PROTOCOLS, Question, question_run
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import HandingOver, ask
from tests.assay.llm.providers.questions import QUICK, questions
from tests.model_server import serving


def test_answers_that_come_while_others_are_written_down_are_written_down_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    stored: list[str] = []
    places: list[HandingOver] = []

    class Seen(HandingOver):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            places.append(self)

    def together(work: Any) -> None:
        before = len(stored)
        work()
        sizes.append(len(stored) - before)
        # It takes as long as the others need to come.
        others, deadline = min(8 - sizes[-1], 40 - len(stored)), time.monotonic() + 60
        while len(places[0]._waiting) < others and time.monotonic() < deadline:
            time.sleep(0.005)
        assert len(places[0]._waiting) >= others, "a thread whose answer is written down waits for the next ones"

    monkeypatch.setattr(question_run, "HandingOver", Seen)

    with serving() as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "m", server.url)
        ask(
            endpoint,
            questions(40),
            lambda question, reply: stored.append(question.key),
            limits=Limits(concurrency=8),
            together=together,
        )
    assert sorted(stored) == sorted(f"k{at}" for at in range(40))
    assert len(sizes) < 20
    assert max(sizes) <= 8


def test_no_thread_continues_before_its_answer_is_stored() -> None:
    committed = 0

    def together(work: Any) -> None:
        nonlocal committed
        work()
        # All in flight but those that were kept: nobody asked anew for an answer that is only on its way.
        assert len(server.requests) <= committed + 4
        committed = len(stored)

    stored: list[str] = []
    with serving() as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "m", server.url)
        ask(
            endpoint,
            questions(60),
            lambda question, reply: stored.append(question.key),
            limits=QUICK,
            together=together,
        )
    assert len(stored) == 60


def test_error_of_the_caller_is_raised_and_ends_the_run() -> None:
    def answered(question: Question, reply: Reply) -> None:
        raise OSError("the disk is full")

    with serving() as server, pytest.raises(OSError, match="disk is full"):
        ask(Endpoint(PROTOCOLS["openai"], "m", server.url), questions(200), answered, limits=QUICK)
    assert len(server.requests) <= 2 * QUICK.concurrency
