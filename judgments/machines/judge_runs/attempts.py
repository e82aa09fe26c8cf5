"""Model calls of one attempt at a machine run: within its caps, with its progress and usage stored every second.

Workers call the model; the job's own thread reads and writes the database. A worker continues when its answer is
committed, so a killed process repeats only the calls in progress.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from assay.llm.judges.bulk_judging import Answered, Asking, Verdict
from assay.llm.providers.limits import Budget
from assay.llm.providers.question_run import Ended
from judgments.jobs import jobs
from judgments.machines.providers import accounts
from judgments.models import MachineRun, Provider

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


class Attempt:
    """One attempt at a run, with the dollars and calls that all its attempts have used."""

    def __init__(self, work: jobs.Work, run: MachineRun, used: tuple[float, int]) -> None:
        self.spent, self.calls = used
        self.done = self.total = 0
        self._work, self._run = work, run
        self._budget = Budget(run.cap_usd, run.cap_calls, *used)
        self._paused = False
        self._interruption: jobs.Cancelled | jobs.Lost | None = None

    def send(
        self,
        asking: Asking,
        on_verdict: Callable[[Verdict], None],
        answered: Callable[[Answered], None],
        commit_after: Callable[[Callable[[], None]], None],
        *,
        provider: Provider,
        client: Any,
        meanwhile: Iterator[None] | None = None,
    ) -> Ended:
        """Send the unanswered questions; `commit_after` runs some work and commits the answers that it adds."""
        executor = MainThreadExecutor(self._beat)

        def charge(call: Answered) -> None:
            answered(call)
            self.spent, self.calls = self.spent + (call.reply.cost_usd or 0.0), self.calls + 1

        ended = executor.during(
            lambda: asking.run(
                on_verdict,
                answered=charge,
                limits=accounts.limits(provider),
                budget=self._budget,
                stop=lambda: self._paused,
                client=client,
                together=lambda work: executor.here(lambda: commit_after(work)),
            ),
            meanwhile,
        )
        self._store_usage()
        return ended

    def raise_interruption(self) -> None:
        """Raise the exception if the job was canceled or lost, after which nothing is sent."""
        if self._interruption is not None:
            raise self._interruption

    def _beat(self) -> None:
        """Report progress, and stop if the job was canceled, lost or paused."""
        self._store_usage()
        try:
            self._work.progress(min(self.done, self.total), self.total)
            self._paused = type(self._run).objects.filter(pk=self._run.pk, pause_requested=True).exists()
        except (jobs.Cancelled, jobs.Lost) as error:
            self._interruption, self._paused = error, True

    def _store_usage(self) -> None:
        type(self._run).objects.filter(pk=self._run.pk).update(spent_usd=self.spent, calls=self.calls)
