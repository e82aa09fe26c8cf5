"""Tests of batched work: concurrent callers share it without sharing failures or waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from judgments.rating.group_commit import Together

PATIENCE = 60.0


class Gate:
    """Work that stops until it is let through, and remembers what it was asked to do at once."""

    def __init__(self, fails: Callable[[Sequence[int]], bool] = lambda items: False) -> None:
        self.groups: list[list[int]] = []
        self.begun, self.through = threading.Semaphore(0), threading.Semaphore(0)
        self.fails = fails

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.groups.append(list(items))
        self.begun.release()
        assert self.through.acquire(timeout=PATIENCE)
        if self.fails(items):
            raise ValueError(f"refused {sorted(items)}")
        return [10 * item for item in items]


def waiting(together: Together[int, int], key: str, number: int) -> None:
    """Wait until so many stand in line."""
    for _ in range(12_000):
        with together.lock:
            if len(together.lines.get(key, [])) == number:
                return
        threading.Event().wait(0.005)
    raise AssertionError(f"nobody stands in line: {together.lines}")


def all_at_once(gate: Gate, most: int = 10, callers: int = 6) -> list[Any]:
    """One caller works; the others come meanwhile; then the gate is opened for good."""
    together = Together(gate, most)
    with ThreadPoolExecutor(callers) as pool:
        futures = [pool.submit(together.do, "key", 1)]
        assert gate.begun.acquire(timeout=PATIENCE)
        futures += [pool.submit(together.do, "key", item) for item in range(2, callers + 1)]
        waiting(together, "key", callers - 1)
        gate.through.release(1000)
        outcomes = [future.exception(PATIENCE) or future.result(PATIENCE) for future in futures]
    assert together.lines == {}
    return outcomes


def test_callers_during_work_share_the_next_batch() -> None:
    gate = Gate()
    assert all_at_once(gate) == [10, 20, 30, 40, 50, 60]
    assert [sorted(group) for group in gate.groups] == [[1], [2, 3, 4, 5, 6]]


def test_so_many_share_it_at_most_and_the_rest_is_not_forgotten() -> None:
    gate = Gate()
    assert all_at_once(gate, most=2) == [10, 20, 30, 40, 50, 60]
    assert [len(group) for group in gate.groups] == [1, 2, 2, 1]


def test_callers_retry_alone_when_shared_work_fails() -> None:
    gate = Gate(fails=lambda items: 4 in items)
    outcomes = all_at_once(gate)
    assert outcomes[:3] + outcomes[4:] == [10, 20, 30, 50, 60]
    assert isinstance(outcomes[3], ValueError)
    assert str(outcomes[3]) == "refused [4]"
    assert [len(group) for group in gate.groups] == [1, 5, 1, 1, 1, 1, 1]


def test_other_keys_do_not_wait() -> None:
    gate = Gate()
    together = Together(gate, 10)
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.submit(together.do, "one", 1), pool.submit(together.do, "two", 2)
        assert all(gate.begun.acquire(timeout=PATIENCE) for _ in range(2))
        gate.through.release(2)
        assert (one.result(PATIENCE), two.result(PATIENCE)) == (10, 20)


def test_a_lone_failure_does_not_affect_the_next_caller() -> None:
    gate = Gate(fails=lambda items: 1 in items)
    gate.through.release(1000)
    together = Together(gate, 10)
    with pytest.raises(ValueError, match="refused"):
        together.do("key", 1)
    assert together.do("key", 2) == 20


def test_many_threads_each_get_their_own_result() -> None:
    together = Together(lambda items: [10 * item for item in items], 3)
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda item: together.do(item % 2, item), range(2_000))) == [
            10 * item for item in range(2_000)
        ]
