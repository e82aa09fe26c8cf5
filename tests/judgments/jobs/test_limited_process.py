"""Tests of the separate file reading process: resource limits, errors, progress."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import BeyondLimits, Conflict, NotValid, TooMany, UnreadableInput
from assay.formats.text_lines import Content
from judgments.jobs import limited_process
from tests.threads import at_once

ENOUGH = limited_process.Limits(cpu=60, seconds=300, memory=1 << 30, expanded=1 << 30, lines=10**7)


def process() -> int:
    return os.getpid()


def double(number: int) -> int:
    return 2 * number


def memory(size: int) -> int:
    return len(bytearray(size))


def spin() -> None:
    while True:
        pass


def match() -> None:
    """One call that takes for ever and never comes back to Python."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def sleep() -> None:
    time.sleep(3_600)


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth else []


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def rows(content: bytes) -> int:
    with Content(content, "a.csv") as opened:
        return sum(1 for _ in opened.lines())


def wrong(kind: str) -> None:
    if kind == "unreadable":
        raise UnreadableInput("a.csv", 3, "no grade", "expected a grade", "E10")
    if kind == "conflict":
        raise Conflict("Taken.", {"name": "Taken."})
    raise TooMany("Wait.", 7) if kind == "many" else ZeroDivisionError("nobody foresaw this")


def steps(*, progress: Callable[[int], None]) -> str:
    for step in range(3):
        progress(step)
    return "done"


def everywhere(*, progress: Callable[[int], None]) -> None:
    while True:
        progress(1)
        time.sleep(0.01)


def test_it_is_another_process_and_the_answer_comes_back() -> None:
    assert limited_process.call(process, limits=ENOUGH) != os.getpid()
    assert limited_process.call(double, 21, limits=ENOUGH) == 42
    assert len(limited_process.call(bytes, 50_000_000, limits=ENOUGH)) == 50_000_000


def test_many_at_once() -> None:
    answers = at_once(*(partial(limited_process.call, double, number, limits=ENOUGH) for number in range(20)))
    assert answers == [2 * number for number in range(20)]


@pytest.mark.parametrize(
    ("function", "args", "limits"),
    [
        (memory, (2 << 30,), {}),
        (spin, (), {"cpu": 1}),
        (match, (), {"cpu": 1}),
        (sleep, (), {"seconds": 1}),
        (nested, (10**6,), {}),
        (end, (), {}),
    ],
)
def test_a_process_over_its_limits_is_ended(
    function: Callable[..., Any], args: tuple[Any, ...], limits: dict[str, Any]
) -> None:
    with pytest.raises(BeyondLimits):
        limited_process.call(function, *args, limits=replace(ENOUGH, **limits))
    assert limited_process.call(double, 1, limits=ENOUGH) == 2


def test_a_file_has_so_many_lines_and_bytes() -> None:
    content = b"x,y\n" * 1_000
    assert limited_process.call(rows, content, limits=replace(ENOUGH, expanded=4_000, lines=1_000)) == 1_000
    for less in ({"expanded": 3_999}, {"lines": 999}):
        with pytest.raises(BeyondLimits, match=r"a\.csv"):
            limited_process.call(rows, content, limits=replace(ENOUGH, **less))
    assert rows(content) == 1_000  # of this process nothing is limited


def test_errors_come_back_as_they_were() -> None:
    with pytest.raises(UnreadableInput) as unreadable:
        limited_process.call(wrong, "unreadable", limits=ENOUGH)
    error = unreadable.value
    assert (str(error), error.line, error.code) == ("a.csv:3: no grade; expected a grade", 3, "E10")
    assert isinstance(error, NotValid)
    with pytest.raises(Conflict) as conflict:
        limited_process.call(wrong, "conflict", limits=ENOUGH)
    assert conflict.value.fields == {"name": "Taken."}
    with pytest.raises(TooMany) as many:
        limited_process.call(wrong, "many", limits=ENOUGH)
    assert many.value.retry_after == 7
    with pytest.raises(limited_process.Crashed, match="ZeroDivisionError: nobody foresaw this"):
        limited_process.call(wrong, "else", limits=ENOUGH)


def test_waiting_callers_get_progress() -> None:
    heard: list[int] = []
    assert limited_process.call(steps, limits=ENOUGH, progress=heard.append, watched=True) == "done"
    assert heard == [0, 1, 2]
    assert limited_process.call(steps, limits=ENOUGH, watched=True) == "done"


def test_canceling_ends_the_process(tmp_path: Path) -> None:
    def give_up(_: int) -> None:
        raise Conflict("No more.")

    with pytest.raises(Conflict):
        limited_process.call(everywhere, limits=ENOUGH, progress=give_up, watched=True)


@pytest.mark.slow
def test_a_helper_that_died_is_started_again() -> None:
    limited_process.call(double, 1, limits=ENOUGH)
    helper, _ = limited_process._started[os.getpid()]
    helper.kill()
    helper.wait()
    assert limited_process.call(double, 2, limits=ENOUGH) == 4
