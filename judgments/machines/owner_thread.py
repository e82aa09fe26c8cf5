"""Handoff of work from many threads to the thread that started them.

Only the job's thread uses the database, with its connection and transaction. Threads that call the network submit their
writes to it and wait until these are done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

Done = TypeVar("Done")
EVERY = 1.0


class MainThreadExecutor:
    """Executor that runs work of other threads in one thread."""

    def __init__(self, beat: Callable[[], None]) -> None:
        self._beat = beat
        self._waiting: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._broken: BaseException | None = None
        self._failed: BaseException | None = None

    def here(self, work: Callable[[], Done]) -> Done:
        """Run work in the main thread; return when it is done, or raise its exception."""
        future: Future[Done] = Future()
        self._waiting.put((work, future))
        return future.result()

    def during(self, outside: Callable[[], Done], meanwhile: Iterator[object] | None = None) -> Done:
        """Run a function in a separate thread, and run submitted work until it ends."""
        result: Future[Done] = Future()

        def run() -> None:
            try:
                result.set_result(outside())
            except BaseException as error:
                result.set_exception(error)

        thread = Thread(target=run, daemon=True, name="asking")
        self._try(self._beat)
        thread.start()
        beat = time.monotonic()
        while not (result.done() and self._waiting.empty()):
            self._serve(meanwhile)
            if time.monotonic() - beat > EVERY:
                self._try(self._beat)
                beat = time.monotonic()
        thread.join()
        if (wrong := self._broken or self._failed) is not None:
            raise wrong
        return result.result()

    def _serve(self, meanwhile: Iterator[object] | None) -> None:
        try:
            # Submitted work comes first, then a step of the other work; without either, wait.
            if self._waiting.empty() and self._step(meanwhile):
                return
            work, future = self._waiting.get(timeout=0.05)
        except Empty:
            return
        if self._broken is not None:
            future.set_exception(self._broken)
            return
        try:
            future.set_result(work())
        except BaseException as error:
            self._broken = error
            future.set_exception(error)

    def _step(self, meanwhile: Iterator[object] | None) -> bool:
        """Run one step, if there is one."""
        if meanwhile is None or self._failed is not None:
            return False
        try:
            return next(meanwhile, self) is not self
        except BaseException as error:
            self._failed = error
            return False

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self._broken = self._broken or error
