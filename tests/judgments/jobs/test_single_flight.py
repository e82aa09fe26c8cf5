"""Tests of shared computation: concurrent callers compute once, and a failure does not block the next."""

from __future__ import annotations

import threading
import uuid

import pytest

from judgments.jobs.single_flight import compute_once


def test_two_who_ask_at_once_get_one_answer() -> None:
    key, calls = f"test:{uuid.uuid4()}", []
    began, go_on = threading.Event(), threading.Event()
    answers: list[str] = []

    def slow() -> str:
        calls.append(1)
        began.set()
        go_on.wait(60)
        return "found"

    first = threading.Thread(target=lambda: answers.append(compute_once(key, slow, keep=60)))
    second = threading.Thread(target=lambda: answers.append(compute_once(key, slow, keep=60)))
    first.start()
    began.wait(60)
    second.start()
    go_on.set()
    first.join(60)
    second.join(60)
    assert (answers, len(calls)) == (["found", "found"], 1)
    assert compute_once(key, slow, keep=60) == "found"
    assert len(calls) == 1


def test_after_a_failure_the_next_one_computes() -> None:
    key = f"test:{uuid.uuid4()}"

    def fails() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        compute_once(key, fails, keep=60)
    assert compute_once(key, lambda: "found", keep=60) == "found"
