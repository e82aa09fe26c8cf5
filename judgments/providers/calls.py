"""How are thousands of questions asked, fast, within limits, and so that nothing that was paid for is lost?

Workers take questions one by one, so memory does not grow with their number. Each answer is handed over as it comes;
whoever asks writes it down, and asks only for what is missing when the run goes on.
"""

from __future__ import annotations

import email.utils
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from judgments.judges.answers import Reply
from judgments.providers.limits import Bucket, Budget, Limits
from judgments.providers.protocol import Endpoint, Question

if TYPE_CHECKING:
    import httpx

BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# The key, the right to the model, or the model itself: the next question would be answered alike.
HOPELESS = frozenset({401, 402, 403, 404})
# So many questions that could not be understood, and none that could: all of them are wrong, not one.
WRONG_IN_A_ROW = 5
# So many in a row without an answer, each after all its attempts: the provider is down.
SILENT_IN_A_ROW = 5
FIRST_WAIT = 0.5
EXCERPT = 300
HIDDEN = "•••"

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
    """

    end: End
    said: str
    answered: int
    attempts: int


class _Hopeless(Exception):
    """No question can be answered."""


def ask(
    endpoint: Endpoint,
    questions: Iterable[Question],
    answered: Callable[[Question, Reply], None],
    *,
    limits: Limits | None = None,
    budget: Budget | None = None,
    stop: Callable[[], bool] = lambda: False,
    client: httpx.Client | None = None,
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
        How fast.
    budget : Budget, optional
        How dear. What a question can cost at most is held back before it is asked.
    stop : callable
        Asked before each question; True ends the run once the answers in flight are there.
    client : httpx.Client, optional
        How requests leave; one with the limits' time-out by default.

    Returns
    -------
    Ended
        Why the run ended. After ``refused`` and ``down`` nothing more was asked.
    """
    return _Run(endpoint, limits or Limits(), budget or Budget(), answered, stop).whole(questions, client)


class _Run:
    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits,
        budget: Budget,
        answered: Callable[[Question, Reply], None],
        stop: Callable[[], bool],
    ) -> None:
        self.endpoint, self.limits, self.budget = endpoint, limits, budget
        self._answered, self._stop = answered, stop
        self._next, self._told = threading.Lock(), threading.Lock()
        self._over = threading.Event()
        self._end: tuple[End, str] = ("done", "")
        self._calls, self._tokens = Bucket(limits.per_minute), Bucket(limits.tokens_per_minute)
        self._silent = self._wrong = self._number = self._attempts = 0
        self._understood = False
        self._broken: BaseException | None = None

    def whole(self, questions: Iterable[Question], client: httpx.Client | None) -> Ended:
        waiting = iter(questions)
        self._client = client or _client(self.limits)
        try:
            workers = [
                threading.Thread(target=self._work, args=(waiting,), daemon=True)
                for _ in range(self.limits.concurrency)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        finally:
            if client is None:
                self._client.close()
        if self._broken is not None:
            raise self._broken
        return Ended(*self._end, self._number, self._attempts)

    def _work(self, waiting: Iterator[Question]) -> None:
        try:
            while (taken := self._take(waiting)) is not None:
                question, held = taken
                try:
                    reply = self._asked(question)
                except _Hopeless as fault:
                    self.budget.release(held)
                    self._finish("refused", str(fault))
                    return
                except BaseException:
                    # Whoever waits for what is held must not wait for ever.
                    self.budget.release(held)
                    raise
                if reply is None:
                    self.budget.release(held)
                    return
                cost = self.endpoint.cost(reply.tokens_in, reply.tokens_out)
                self.budget.settle(held, 0.0 if reply.fault else cost)
                self._tell(question, replace(reply, cost_usd=cost))
        except BaseException as error:
            # Whoever asked must see it, and nobody may go on asking.
            self._broken = self._broken or error
            self._over.set()

    def _take(self, waiting: Iterator[Question]) -> tuple[Question, float | None] | None:
        """The next question with what is held back for it; None where there is none, or the run is over."""
        with self._next:
            if self._over.is_set():
                return None
            if self._stop():
                self._finish("stopped", "stopped; what was answered is kept")
                return None
            question = next(waiting, None)
            if question is None:
                return None
            most = self.endpoint.most_cost(question)
            if not self.budget.reserve(most):
                self._finish("budget", "the limit is reached; what was answered is kept")
                return None
        return question, most

    def _finish(self, end: End, said: str) -> None:
        """End the run; what ended it first is what is told."""
        if not self._over.is_set():
            self._end = (end, said)
            self._over.set()

    def _tell(self, question: Question, reply: Reply) -> None:
        with self._told:
            self._number += 1
            self._answered(question, reply)
            self._silent = self._silent + 1 if reply.fault.startswith("no answer") else 0
            if self._silent >= SILENT_IN_A_ROW:
                self._finish("down", f"{reply.fault}; asked {self._silent} questions in a row in vain. Go on later")

    def _asked(self, question: Question) -> Reply | None:
        """The answer after as many attempts as it takes; None where the run ended meanwhile."""
        began, fault, wait = time.monotonic(), "", 0.0
        for attempt in range(self.limits.attempts):
            rest = max(self._calls.take(), self._tokens.take(question.tokens + question.most_tokens))
            if self._over.wait(max(wait, rest)):
                return None
            reply, fault, asked_to_wait = self._once(question)
            if reply is not None:
                return replace(reply, seconds=time.monotonic() - began)
            # Half of the time at random, so that workers who failed together do not come back together.
            wait = FIRST_WAIT * 2**attempt * (0.5 + random.random() / 2)  # noqa: S311
            wait = min(asked_to_wait if asked_to_wait is not None else wait, self.limits.longest_wait)
        said = f"no answer after {self.limits.attempts} attempts, the last time: {fault}"
        return Reply(fault=said, seconds=time.monotonic() - began)

    def _once(self, question: Question) -> tuple[Reply | None, str, float | None]:
        """One attempt: the answer, or what was wrong and how long the provider wants to be left alone."""
        import httpx

        endpoint = self.endpoint
        with self._told:
            self._attempts += 1
        try:
            response = self._client.post(
                endpoint.url,
                headers=endpoint.protocol.headers(endpoint.key),
                json=endpoint.protocol.body(question, endpoint.model),
                timeout=self.limits.timeout,
            )
        except httpx.TimeoutException:
            return None, f"nothing came within {self.limits.timeout:g} s", None
        except httpx.TransportError as error:
            return None, self._hidden(f"no connection ({type(error).__name__}: {error})"), None
        return self._read(response)

    def _read(self, response: httpx.Response) -> tuple[Reply | None, str, float | None]:
        status = response.status_code
        said = f"status {status}: {self._hidden(_words(response))}"
        if status in HOPELESS:
            raise _Hopeless(f"{said}. Check key, model and address; nothing more was asked")
        if status in BUSY:
            return None, said, retry_after(response.headers.get("Retry-After"))
        if status != 200:
            return self._not_understood(said), "", None
        try:
            reply = self.endpoint.protocol.read(response.json())
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return (
                self._not_understood(f"status 200, but no answer as {self.endpoint.protocol.title} gives: {said}"),
                "",
                None,
            )
        self._understood = True
        return reply, "", None

    def _not_understood(self, said: str) -> Reply:
        """A question that was refused for itself; where all are, the run ends."""
        with self._told:
            self._wrong += 1
            if not self._understood and self._wrong >= WRONG_IN_A_ROW:
                raise _Hopeless(f"{said}. The first {self._wrong} questions ended so; nothing more was asked")
        return Reply(fault=said)

    def _hidden(self, text: str) -> str:
        return text.replace(self.endpoint.key, HIDDEN) if self.endpoint.key else text


def retry_after(told: str | None) -> float | None:
    """How many seconds a provider wants to be left alone: a number, or a date.

    Examples
    --------
    >>> retry_after("3"), retry_after("soon"), retry_after(None)
    (3.0, None, None)
    """
    if told is None:
        return None
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(told).timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None


def _client(limits: Limits) -> httpx.Client:
    import httpx

    pool = httpx.Limits(max_connections=limits.concurrency, max_keepalive_connections=limits.concurrency)
    return httpx.Client(limits=pool, timeout=limits.timeout, follow_redirects=False)


def _words(response: httpx.Response) -> str:
    """What the provider says, in a line."""
    try:
        told: Any = response.json()
        told = told.get("error", told) if isinstance(told, dict) else told
        said = told.get("message", told) if isinstance(told, dict) else told
    except ValueError:
        said = response.text
    return " ".join(str(said).split())[:EXCERPT] or "without a word"
