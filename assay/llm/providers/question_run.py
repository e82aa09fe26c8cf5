"""Shared state of a run of questions: the next question, the counts, and the reason for its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from assay.core.counted_nouns import amount
from assay.llm.model_reply import Reply
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint, Question
from assay.llm.providers.response_body import TooLong, failed_before_sending, post_question
from assay.llm.providers.responses import Busy, NotUnderstood, hidden, read
from assay.llm.providers.shared_rate import pace_of

if TYPE_CHECKING:
    from assay.llm.providers.response_body import Client

# If this many questions are rejected and none is accepted, the error concerns all questions.
WRONG_IN_A_ROW = 5
# If this many questions in a row have no answer after all attempts, the provider is down.
SILENT_IN_A_ROW = 5

End = Literal["done", "stopped", "budget", "refused", "down"]


@dataclass(frozen=True)
class Ended:
    """How a run of questions ended."""

    end: End
    message: str
    answered: int
    attempts: int
    leave_alone: float = 0.0


@dataclass(frozen=True, slots=True)
class Taken:
    """A question that is about to be sent, with its reservation."""

    question: Question
    endpoint: Endpoint
    request: bytes
    most_read: int
    most_written: int
    held: float | None


class Run:
    """State of one run of questions, shared by its threads."""

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
        # Tokens read and written beyond the expected maximum, as counted by the provider.
        self._beyond = (0, 0)
        self._understood = False

    def take(self, waiting: Iterator[Question]) -> Taken | None:
        """Return the next question with its reservation; None if there is none or the run is over."""
        with self._next:
            if self.over.is_set():
                return None
            if self._stop():
                self.finish("stopped", "stopped; the answers so far are saved")
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
        """Return how the run ended, after all its threads have finished."""
        leave_alone = self._leave_alone if self._end[0] == "down" else 0.0
        return Ended(*self._end, self._number, self._attempts, leave_alone)

    @property
    def why(self) -> str:
        """Return why the run ended."""
        return self._end[1]

    def finish(self, end: End, message: str) -> None:
        """End the run; only the first reason counts."""
        if not self.over.is_set():
            self._end = (end, message)
            self.over.set()

    def compare(self, taken: Taken, reply: Reply) -> None:
        """Update the token ratio, and the excess over the expected maximum, from a counted reply."""
        counted = reply.tokens_in or 0
        with self._counting:
            self.pace.ratio.add(estimated=taken.question.tokens, counted=counted)
            read, written = self._beyond
            written = max(written, (reply.tokens_out or 0) - taken.question.most_tokens)
            self._beyond = max(read, counted - taken.endpoint.most_read(taken.request)), written

    def tell(self, question: Question, reply: Reply) -> None:
        """Pass on an answer; too many failures in a row mean that the provider is down."""
        self._number += 1
        self._answered(question, reply)
        self._silent = self._silent + 1 if reply.fault.startswith("no answer") else 0
        if self._silent >= SILENT_IN_A_ROW:
            self.finish(
                "down", f"{reply.fault}; {amount(self._silent, 'question')} in a row got no answer. Resume later"
            )

    def patient(self, seconds: float, fault: str) -> bool:
        """Make all threads wait for the provider; False if the wait is too long and the run is over."""
        if seconds > self.limits.longest_wait:
            self._leave_alone = max(self._leave_alone, seconds)
            wait = f"the provider asks to wait {seconds:,.0f} s, more than {self.limits.longest_wait:g} s"
            self.finish("down", f"{fault}; {wait}. Resume later")
            return False
        self.pace.leave_alone(seconds)
        return True

    def once(self, taken: Taken) -> Reply:
        """Make one attempt: return the answer, or raise Busy, NotUnderstood, Unwanted or Hopeless."""
        import httpx

        endpoint = taken.endpoint
        with self._counting:
            self._attempts += 1
        try:
            response = post_question(self._client, endpoint, taken.request, self.limits.timeout)
        except TooLong as flood:
            raise NotUnderstood(str(flood), (None, None)) from None
        except httpx.TransportError as error:
            late = isinstance(error, httpx.TimeoutException)
            problem = f"no response within {self.limits.timeout:g} s" if late else f"no connection ({_describe(error)})"
            raise Busy(hidden(endpoint, problem), unsure=not failed_before_sending(error)) from None
        reply = read(endpoint, taken.question, response)
        self._understood = True
        return reply

    def without(self, taken: Taken, names: frozenset[str]) -> Taken:
        """Return the question without the refused parameters; later questions omit them from the start."""
        with self._counting:
            self.endpoint = self.endpoint.without(names)
        endpoint = taken.endpoint.without(names)
        return replace(taken, endpoint=endpoint, request=endpoint.request(taken.question))

    def count_wrong(self, message: str) -> None:
        """Count a refused question; if all are refused, the run ends."""
        with self._counting:
            self._wrong += 1
            if not self._understood and self._wrong >= WRONG_IN_A_ROW:
                self.finish(
                    "refused",
                    f"{message}. The first {self._wrong} questions failed this way; no more requests were made",
                )


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
