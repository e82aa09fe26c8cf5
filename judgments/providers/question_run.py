"""Shared state of one run of questions: the next question, the counts, and the reason it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from judgments.core.amounts import amount
from judgments.judges.answers import Reply
from judgments.providers.limits import Budget, Limits
from judgments.providers.pace import pace_of
from judgments.providers.protocol import Endpoint, Question
from judgments.providers.reading import TooLong, never_sent, posted
from judgments.providers.responses import Busy, NotUnderstood, hidden, read

if TYPE_CHECKING:
    from judgments.providers.reading import Client

# So many questions that could not be understood, and none that could: all of them are wrong, not one.
WRONG_IN_A_ROW = 5
# So many in a row without an answer, each after all its attempts: the provider is down.
SILENT_IN_A_ROW = 5

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


@dataclass(frozen=True, slots=True)
class Taken:
    """A question that is to be asked.

    Parameters
    ----------
    question : Question
        What.
    endpoint : Endpoint
        Whom.
    request : bytes
        What is sent.
    most_read, most_written : int
        How many tokens one attempt can take.
    held : float or None
        What that can cost: so much is held back while one is on its way.
    """

    question: Question
    endpoint: Endpoint
    request: bytes
    most_read: int
    most_written: int
    held: float | None


class Run:
    """One run of questions, and what its threads share."""

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits,
        budget: Budget,
        answered: Callable[[Question, Reply], None],
        stop: Callable[[], bool],
        client: Client,
    ) -> None:
        self.endpoint, self.limits, self.budget = endpoint, limits, budget
        self._answered, self._stop, self._client = answered, stop, client
        self._next, self._counting = threading.Lock(), threading.Lock()
        self.over = threading.Event()
        self._end: tuple[End, str] = ("done", "")
        self._leave_alone = 0.0
        self.pace = pace_of(endpoint, limits)
        self._silent = self._wrong = self._number = self._attempts = 0
        # What a provider counted beyond what was thought to be the most: tokens read, and written.
        self._beyond = (0, 0)
        self._understood = False

    def take(self, waiting: Iterator[Question]) -> Taken | None:
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
    def ended(self) -> Ended:
        """How it ended, once no thread is at work on it."""
        leave_alone = self._leave_alone if self._end[0] == "down" else 0.0
        return Ended(*self._end, self._number, self._attempts, leave_alone)

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

    def tell(self, question: Question, reply: Reply) -> None:
        """Hand over an answer; too many in a row that never came are one provider that is down."""
        self._number += 1
        self._answered(question, reply)
        self._silent = self._silent + 1 if reply.fault.startswith("no answer") else 0
        if self._silent >= SILENT_IN_A_ROW:
            self.finish(
                "down", f"{reply.fault}; asked {amount(self._silent, 'question')} in a row in vain. Go on later"
            )

    def patient(self, seconds: float, fault: str) -> bool:
        """Leave the provider alone for so long, all of us; False where that is too long, and the run is over."""
        if seconds > self.limits.longest_wait:
            most = f"and is waited for {self.limits.longest_wait:g} s at most"
            self._leave_alone = max(self._leave_alone, seconds)
            self.finish("down", f"{fault}; it wants to be left alone for {seconds:,.0f} s, {most}. Go on later")
            return False
        self.pace.leave_alone(seconds)
        return True

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
