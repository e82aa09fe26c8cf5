"""How are thousands of questions asked, fast, within limits, and so that nothing that was paid for is lost?

Workers take questions one by one, so memory does not grow with their number. Each answer is handed over as it comes;
whoever asks writes it down, and asks only for what is missing when the run goes on.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from judgments.judges.answers import Reply
from judgments.providers.attempts import Attempts, Taken
from judgments.providers.handing_over import HandingOver
from judgments.providers.limits import Budget, Limits
from judgments.providers.pace import pace_of
from judgments.providers.protocol import Endpoint, Question
from judgments.providers.reading import TooLong, never_sent, plain_client, posted
from judgments.providers.responses import Busy, NotUnderstood, hidden, read

if TYPE_CHECKING:
    import httpx

# So many questions that could not be understood, and none that could: all of them are wrong, not one.
WRONG_IN_A_ROW = 5
# So many in a row without an answer, each after all its attempts: the provider is down.
SILENT_IN_A_ROW = 5
FIRST_WAIT = 0.5

End = Literal["done", "stopped", "budget", "refused", "down"]


@dataclass(frozen=True)
class Ended:
    """How a run of questions ended.

    Parameters
    ----------
    end : str
        ``done``; ``stopped`` from outside; ``budget`` used up; ``refused``: key, model or questions are wrong;
        ``down``: the provider does not answer.
    said : str
        Why, in words; empty where all were asked.
    answered : int
        How many answers came, failures of single questions among them.
    attempts : int
        How many requests were sent.
    leave_alone : float
        Seconds for which a provider that is down asked not to be asked; 0 where it said nothing.
    """

    end: End
    said: str
    answered: int
    attempts: int
    leave_alone: float = 0.0


def ask(
    endpoint: Endpoint,
    questions: Iterable[Question],
    answered: Callable[[Question, Reply], None],
    *,
    limits: Limits | None = None,
    budget: Budget | None = None,
    stop: Callable[[], bool] = lambda: False,
    client: httpx.Client | None = None,
    together: Callable[[Callable[[], None]], None] = lambda work: work(),
) -> Ended:
    """Ask all questions, several at once, and hand over each answer as it comes.

    Parameters
    ----------
    endpoint : Endpoint
        Who is asked.
    questions : iterable of Question
        Taken one by one, by several threads in turn.
    answered : callable
        ``answered(question, reply)``, one call after the other. A question that failed after all attempts has a reply
        with a ``fault``.
    limits : Limits, optional
        How fast; all who ask this provider under this key in this process share what it grants a minute, and the places
        of questions in flight.
    budget : Budget, optional
        How dear. What a question can cost at most is held back before it is asked.
    stop : callable
        Asked before each question; True ends the run once the answers in flight are there.
    client : httpx.Client, optional
        How requests leave; one with the limits' time-out by default.
    together : callable
        ``together(work)`` calls ``work()``, which hands over all answers that came while the last ones were handed
        over. No thread goes on before its answer is through: one transaction around them keeps many answers at once.

    Returns
    -------
    Ended
        Why the run ended. After ``refused`` and ``down`` nothing more was asked.
    """
    return Run(endpoint, limits or Limits(), budget or Budget(), answered, stop, together).whole(questions, client)


class Run:
    """One run of questions, and what its threads share."""

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits,
        budget: Budget,
        answered: Callable[[Question, Reply], None],
        stop: Callable[[], bool],
        together: Callable[[Callable[[], None]], None],
    ) -> None:
        self.endpoint, self.limits, self.budget = endpoint, limits, budget
        self._answered, self._stop = answered, stop
        self._handing_over = HandingOver(self._tell, together)
        self._next, self._counting = threading.Lock(), threading.Lock()
        self.over = threading.Event()
        self._end: tuple[End, str] = ("done", "")
        self._leave_alone = 0.0
        self.pace = pace_of(endpoint, limits)
        self._silent = self._wrong = self._number = self._attempts = 0
        # What a provider counted beyond what was thought to be the most: tokens read, and written.
        self._beyond = (0, 0)
        self._understood = False
        self._broken: BaseException | None = None

    def whole(self, questions: Iterable[Question], client: httpx.Client | None) -> Ended:
        waiting = iter(questions)
        self._client = client or plain_client(self.limits)
        try:
            workers = [
                threading.Thread(target=self._work, args=(waiting,), daemon=True)
                for _ in range(self.limits.concurrency)
            ]
            with self.pace.run(self.limits.concurrency):
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
        finally:
            if client is None:
                self._client.close()
        if self._broken is not None:
            raise self._broken
        return Ended(*self._end, self._number, self._attempts, self._leave_alone if self._end[0] == "down" else 0.0)

    def _work(self, waiting: Iterator[Question]) -> None:
        try:
            while (taken := self._take(waiting)) is not None:
                reply = Attempts(self, taken).reply()
                if reply is None:
                    return
                self._handing_over.give(taken.question, reply)
        except BaseException as error:
            # Whoever asked must see it, and nobody may go on asking.
            self._broken = self._broken or error
            self.over.set()

    def _take(self, waiting: Iterator[Question]) -> Taken | None:
        """The next question with what is held back for it; None where there is none, or the run is over."""
        with self._next:
            if self.over.is_set():
                return None
            if self._stop():
                self.finish("stopped", "stopped; what was answered is kept")
                return None
            question = next(waiting, None)
            if question is None:
                return None
            endpoint = self.endpoint
            request = endpoint.request(question)
            more_read, more_written = self._beyond
            most_read, most_written = endpoint.most_read(request) + more_read, question.most_tokens + more_written
            most = endpoint.cost(most_read, most_written)
            if not self.budget.reserve(most):
                self.finish("budget", self.budget.no_room(most))
                return None
        return Taken(question, endpoint, request, most_read, most_written, most)

    @property
    def why(self) -> str:
        """Why it ended, in words."""
        return self._end[1]

    def finish(self, end: End, said: str) -> None:
        """End the run; what ended it first is what is told."""
        if not self.over.is_set():
            self._end = (end, said)
            self.over.set()

    def compare(self, taken: Taken, reply: Reply) -> None:
        """Learn from what was counted: of estimates, and of a server that adds to what it is sent, or writes on."""
        counted = reply.tokens_in or 0
        with self._counting:
            self.pace.ratio.add(estimated=taken.question.tokens, counted=counted)
            read, written = self._beyond
            written = max(written, (reply.tokens_out or 0) - taken.question.most_tokens)
            self._beyond = max(read, counted - taken.endpoint.most_read(taken.request)), written

    def _tell(self, question: Question, reply: Reply) -> None:
        self._number += 1
        self._answered(question, reply)
        self._silent = self._silent + 1 if reply.fault.startswith("no answer") else 0
        if self._silent >= SILENT_IN_A_ROW:
            self.finish("down", f"{reply.fault}; asked {self._silent} questions in a row in vain. Go on later")

    def patient(self, seconds: float, fault: str) -> bool:
        """Leave the provider alone for so long, all of us; False where that is too long, and the run is over."""
        if seconds > self.limits.longest_wait:
            most = f"and is waited for {self.limits.longest_wait:g} s at most"
            self._leave_alone = max(self._leave_alone, seconds)
            self.finish("down", f"{fault}; it wants to be left alone for {seconds:,.0f} s, {most}. Go on later")
            return False
        self.pace.leave_alone(seconds)
        return True

    def pause(self, attempt: int) -> float:
        """How long to wait after so many attempts, where the provider says nothing."""
        # Half of the time at random, so that workers who failed together do not come back together.
        wait = FIRST_WAIT * 2.0 ** (attempt - 1) * (0.5 + random.random() / 2)  # noqa: S311
        return min(wait, self.limits.longest_wait)

    def once(self, taken: Taken) -> Reply:
        """One attempt: the answer, or Busy, NotUnderstood, Unwanted or Hopeless."""
        import httpx

        endpoint = taken.endpoint
        with self._counting:
            self._attempts += 1
        try:
            response = posted(self._client, endpoint, taken.request, self.limits.timeout)
        except TooLong as flood:
            raise NotUnderstood(str(flood), (None, None)) from None
        except httpx.TransportError as error:
            late = isinstance(error, httpx.TimeoutException)
            said = f"nothing came within {self.limits.timeout:g} s" if late else f"no connection ({_told(error)})"
            raise Busy(hidden(endpoint, said), unsure=not never_sent(error)) from None
        reply = read(endpoint, taken.question, response)
        self._understood = True
        return reply

    def without(self, taken: Taken, names: frozenset[str]) -> Taken:
        """The question again without what this model does not take; those to come are asked so at once."""
        with self._counting:
            self.endpoint = self.endpoint.without(names)
        endpoint = taken.endpoint.without(names)
        return replace(taken, endpoint=endpoint, request=endpoint.request(taken.question))

    def count_wrong(self, said: str) -> None:
        """A question that was refused for itself; where all are, the run ends."""
        with self._counting:
            self._wrong += 1
            if not self._understood and self._wrong >= WRONG_IN_A_ROW:
                self.finish("refused", f"{said}. The first {self._wrong} questions ended so; nothing more was asked")


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
