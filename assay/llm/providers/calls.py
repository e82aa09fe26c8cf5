"""Send thousands of questions in parallel, within limits, without losing paid answers. Workers take questions one at
a time, so memory does not grow with their number. Each answer is passed on as it arrives; the caller records it and
sends only the missing questions when the run resumes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from assay.llm.model_reply import Reply
from assay.llm.providers.attempts import Attempts
from assay.llm.providers.handover import HandingOver
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint, Question
from assay.llm.providers.question_run import Ended, Run
from assay.llm.providers.response_body import plain_client

if TYPE_CHECKING:
    from assay.llm.providers.response_body import Client

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
    """Send all questions in parallel, and pass on each answer as it arrives.

    Parameters
    ----------
    endpoint : Endpoint
        The model endpoint.
    questions : iterable of Question
        The questions, taken one at a time by several threads.
    answered : callable
        ``answered(question, reply)``, one call at a time. A question that failed after all attempts has a reply with a
        ``fault``.
    limits : Limits, optional
        Rate limits; all runs in this process with the same provider and key share them.
    budget : Budget, optional
        Spending limit. The maximum cost of a question is reserved before it is sent.
    stop : callable
        Checked before each question; True ends the run after the answers in flight have arrived.
    client : httpx.Client or Pools, optional
        The HTTP client; by default a client with the timeout of the limits.
    together : callable
        ``together(work)`` calls ``work()``, which passes on all answers that arrived during the previous call. Threads
        wait until their answer is processed, so a single transaction can store many answers.

    Returns
    -------
    Ended
        Why the run ended. After ``refused`` and ``down`` no more questions were sent.
    """
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
