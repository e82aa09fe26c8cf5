"""Tests of work shared by processes: same result as in one process."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from assay.core.errors import UnreadableInput
from assay.scoring.evaluate import shared_out

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


@pytest.mark.parametrize("processes", [1, 2, 3, 9])
def test_results_come_in_the_order_of_the_items(processes: int) -> None:
    assert list(shared_out(range(7), lambda item: item * item, processes)) == [0, 1, 4, 9, 16, 25, 36]


def test_processes_other_than_this_one_do_their_share() -> None:
    own = os.getpid()
    assert [process == own for process in shared_out(range(4), lambda _: os.getpid(), 2)] == [True, False, True, False]


def test_an_error_is_raised_in_its_place() -> None:
    def work(item: int) -> int:
        if item == 3:
            raise UnreadableInput("a.run", 7, "odd", "mend it", "E12")
        return item

    result = shared_out(range(6), work, 2)
    assert [next(result) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(UnreadableInput, match=r"a\.run:7: odd; mend it") as raised:
        next(result)
    assert raised.value.code == "E12"


def test_work_of_a_killed_process_is_finished_here() -> None:
    own = os.getpid()

    def work(item: int) -> int:
        if item == 3 and os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert list(shared_out(range(6), work, 2)) == [0, 1, 2, 3, 4, 5]


def test_processes_end_when_the_consumer_stops() -> None:
    result = shared_out(range(100), lambda item: os.getpid(), 2)
    next(result)
    child = next(result)
    result.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
