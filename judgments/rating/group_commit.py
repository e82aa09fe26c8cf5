"""Combination of simultaneous calls into one piece of work, for example one transaction.

A call that arrives while no work is running starts immediately. Calls that arrive meanwhile are queued, and the first
of them then does the work for all, so that many calls share fixed costs such as database queries and the wait for the
disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Caller(Generic[Item, Result]):
    """A waiting call in its own thread."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.woken = threading.Event()
        self.leads = False
        self.result: list[Result] = []  # empty: no thread did the work for this caller


class Together(Generic[Item, Result]):
    """Combiner of calls from the threads of a process."""

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Result]], most: int) -> None:
        self.work, self.most = work, most
        self.lock = threading.Lock()
        self.lines: dict[Hashable, list[_Caller[Item, Result]]] = {}  # a key is present while a thread works on it

    def do(self, key: Hashable, item: Item) -> Result:
        """Return the result for one item; calls with the same key run one after another or combined."""
        caller = _Caller[Item, Result](item)
        with self.lock:
            caller.leads = key not in self.lines
            self.lines.setdefault(key, []).append(caller)
        if not caller.leads:
            caller.woken.wait()
        if caller.leads:
            self._lead(key)
        return caller.result[0] if caller.result else self.work([item])[0]

    def _lead(self, key: Hashable) -> None:
        """Do the work for all waiting calls, then let the next caller continue."""
        with self.lock:
            group, rest = self.lines[key][: self.most], self.lines[key][self.most :]
            self.lines[key] = rest
        try:
            for caller, result in zip(group, self.work([caller.item for caller in group]), strict=True):
                caller.result.append(result)
        except Exception:
            if len(group) == 1:
                raise
            for caller in group:
                caller.result.clear()
        finally:
            self._hand_over(key, group)

    def _hand_over(self, key: Hashable, group: Sequence[_Caller[Item, Result]]) -> None:
        with self.lock:
            line = self.lines[key]
            if line:
                line[0].leads = True
            else:
                del self.lines[key]
        for caller in [*group, *line[:1]]:
            caller.woken.set()
