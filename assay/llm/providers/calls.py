"""Send thousands of questions in parallel, within limits, without losing paid answers. Workers take questions one at
a time, so memory does not grow with their number. Each answer is passed on as it arrives; the caller records it and
sends only the missing questions when the run resumes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.llm.model_reply import Reply
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint, Question
from assay.llm.providers.question_run import Attempts, Ended, Run
from assay.llm.providers.response_body import plain_client

if TYPE_CHECKING:
    from assay.llm.providers.response_body import Client


# A consumer that stores answers in a database commits them. Other answers arrive during a commit; the next free thread
# then passes on all waiting answers together, and each thread continues when its own answer is stored.
@dataclass(eq=False, slots=True)
class _Given:
    question: Question
    reply: Reply
    over: bool = False
    broken: BaseException | None = None


class HandingOver:
    """Queue that passes answers from many threads to one consumer."""

    def __init__(self, each: Callable[[Question, Reply], None], together: Callable[[Callable[[], None]], None]) -> None:
        self._each, self._together = each, together
        self._changed = threading.Condition()
        self._working = False
        self._waiting: list[_Given] = []

    def give(self, question: Question, reply: Reply) -> None:
        """Pass on one answer; return once it is processed, and raise the consumer's error."""
        mine = _Given(question, reply)
        with self._changed:
            self._waiting.append(mine)
            # A thread continues as soon as its own answer is processed, while others process the next ones.
            self._changed.wait_for(lambda: mine.over or not self._working)
            every: list[_Given] = []
            if not mine.over:
                self._working = True
                every, self._waiting = self._waiting, []
        if every:
            self._hand_over(every)
        if mine.broken is not None:
            raise mine.broken

    def _hand_over(self, every: Sequence[_Given]) -> None:
        def work() -> None:
            for one in every:
                self._each(one.question, one.reply)

        broken: BaseException | None = None
        try:
            self._together(work)
        except BaseException as error:
            broken = error
        with self._changed:
            for one in every:
                one.broken, one.over = broken, True
            self._working = False
            self._changed.notify_all()


__all__ = ["Ended", "ask"]


def ask(
    endpoint: Endpoint,
    questions: Iterable[Question],
    answered: Callable[[Question, Reply], None],
    *,
    limits: Limits | None = None,
    budget: Budget | None = None,
    stop: Callable[[], bool] = lambda: False,
    client: Client | None = None,
    together: Callable[[Callable[[], None]], None] = lambda work: work(),
) -> Ended:
    """Send all questions in parallel, and pass on each answer as it arrives."""
    limits = limits or Limits()
    asking = client or plain_client(limits)
    run = Run(endpoint, limits, budget or Budget(), answered, stop, asking)
    try:
        _Workers(run, questions, together).work()
    finally:
        if client is None:
            asking.close()
    return run.ended


class _Workers:
    """Threads of a run; each sends question after question until none is left or the run is over."""

    def __init__(self, run: Run, questions: Iterable[Question], together: Callable[[Callable[[], None]], None]) -> None:
        self._run, self._waiting = run, iter(questions)
        self._handing_over = HandingOver(run.tell, together)
        self._broken: BaseException | None = None

    def work(self) -> None:
        number = self._run.limits.concurrency
        workers = [threading.Thread(target=self._ask, daemon=True) for _ in range(number)]
        with self._run.pace.run(number):
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        if self._broken is not None:
            raise self._broken

    def _ask(self) -> None:
        try:
            while (taken := self._run.take(self._waiting)) is not None:
                reply = Attempts(self._run, taken).reply()
                if reply is None:
                    return
                self._handing_over.give(taken.question, reply)
        except BaseException as error:
            # The caller must see the error, and no further calls may be made.
            self._broken = self._broken or error
            self._run.over.set()
