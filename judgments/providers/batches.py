"""How are thousands of questions left with a provider at half the price, and fetched when they are answered?

A batch has an id. It is written down before anybody waits for it, so that a run that is killed finds its batches again
and pays for none twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from judgments.core.errors import NotValid
from judgments.judges.answers import Reply
from judgments.providers.batch_ways import WAYS, Caller, Down, Refused, Way
from judgments.providers.calls import Ended
from judgments.providers.limits import Budget
from judgments.providers.protocol import Endpoint, Question

# What one batch may hold: the smaller of what the two providers allow, with room to spare.
MOST_QUESTIONS, MOST_BYTES = 50_000, 150_000_000
POLL = 60.0


class Store(Protocol):
    """Where the batches that were sent are written down."""

    def load(self) -> dict[str, list[str]]:
        """The keys of the questions of each batch, by its id."""

    def save(self, batches: Mapping[str, Sequence[str]]) -> None:
        """At once or not at all."""


def ask_in_batches(
    endpoint: Endpoint,
    questions: Iterable[Question],
    answered: Callable[[Question, Reply], None],
    *,
    store: Store,
    budget: Budget | None = None,
    stop: Callable[[], bool] = lambda: False,
    poll: float = POLL,
) -> Ended:
    """Leave all questions with the provider, wait, and hand over each answer.

    Parameters
    ----------
    endpoint : Endpoint
        Who is asked; its prices are those of batches.
    questions : iterable of Question
        Their keys are the ids within the batch. What a batch in the store holds already is not sent again.
    answered : callable
        As for `calls.ask`. A question that failed or expired has a reply with a ``fault``.
    store : Store
        Written before waiting begins.
    budget : Budget, optional
        What each question can cost at most is held back before its batch is sent.
    stop : callable
        Asked between two looks; the batches go on at the provider, and the next call fetches them.
    poll : float
        Seconds between two looks.

    Raises
    ------
    NotValid
        The provider has no batches that are known here.
    """
    way = WAYS.get(endpoint.protocol.name)
    if way is None:
        raise NotValid(f"{endpoint.protocol.title} takes no batches here; {', '.join(WAYS)} do")
    return _Batches(endpoint, way, store, budget or Budget(), answered, stop, poll).whole(questions)


class _Batches:
    def __init__(
        self,
        endpoint: Endpoint,
        way: Way,
        store: Store,
        budget: Budget,
        answered: Callable[[Question, Reply], None],
        stop: Callable[[], bool],
        poll: float,
    ) -> None:
        self._endpoint, self._way, self._store, self._budget = endpoint, way, store, budget
        self._answered, self._stop, self._poll = answered, stop, poll
        self._open = dict(store.load())
        self._waiting: dict[str, Question] = {}
        self._held: dict[str, float | None] = {}
        self._holding, self._number = 0.0, 0

    def whole(self, questions: Iterable[Question]) -> Ended:
        self._caller = Caller(self._endpoint)
        try:
            full = self._send(questions)
            if not self._wait():
                return Ended("stopped", "stopped; the batches go on at the provider", self._number, self._caller.calls)
        except Refused as fault:
            return Ended("refused", str(fault), self._number, self._caller.calls)
        except Down as fault:
            return Ended("down", f"{fault}. Go on later", self._number, self._caller.calls)
        finally:
            self._caller.close()
        said = "" if full else "the limit is reached; what was answered is kept"
        return Ended("done" if full else "budget", said, self._number, self._caller.calls)

    def _send(self, questions: Iterable[Question]) -> bool:
        """Send what no batch holds; False where the budget ended first."""
        there = {key for keys in self._open.values() for key in keys}
        part: list[Question] = []
        size, full = 0, True
        for question in questions:
            self._waiting[question.key] = question
            if question.key in there:
                continue
            most = self._endpoint.most_cost(question)
            # Nothing comes back before all is sent, so what is held is never given back meanwhile.
            if not self._room(most) or not self._budget.reserve(most):
                del self._waiting[question.key]
                full = False
                break
            self._held[question.key] = most
            self._holding += most or 0.0
            length = len(question.prompt) * 4 + len(question.system) * 4 + 2_000
            if part and (len(part) >= MOST_QUESTIONS or size + length > MOST_BYTES):
                self._sent(part)
                part, size = [], 0
            part.append(question)
            size += length
        if part:
            self._sent(part)
        return full

    def _room(self, most: float | None) -> bool:
        if self._budget.usd is None:
            return True
        return self._budget.spent + self._holding + (most or 0.0) <= self._budget.usd + 1e-12

    def _sent(self, part: Sequence[Question]) -> None:
        try:
            batch = self._way.send(self._caller, self._endpoint, part)
        except BaseException:
            for question in part:
                self._budget.release(self._held.pop(question.key))
            raise
        self._open[batch] = [question.key for question in part]
        self._store.save(self._open)

    def _wait(self) -> bool:
        """Look after the batches until none is open; False where it was stopped."""
        pause = threading.Event()
        while self._open:
            for batch in list(self._open):
                found = self._way.answers(self._caller, self._endpoint, batch)
                if found is not None:
                    self._fetched(batch, dict(found))
            if not self._open:
                return True
            if self._stop():
                return False
            pause.wait(self._poll)
        return True

    def _fetched(self, batch: str, told: Mapping[str, Any]) -> None:
        for key in self._open[batch]:
            question = self._waiting.pop(key, None)
            if question is not None:
                self._hand_over(question, self._reply(told.get(key)))
        del self._open[batch]
        self._store.save(self._open)

    def _reply(self, told: Any) -> Reply:
        if isinstance(told, str) or told is None:
            return Reply(fault=told or "the batch ended without an answer to it")
        try:
            return self._endpoint.protocol.read(told)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return Reply(fault=f"no answer as {self._endpoint.protocol.title} gives")

    def _hand_over(self, question: Question, reply: Reply) -> None:
        cost = self._endpoint.cost(reply.tokens_in, reply.tokens_out)
        if question.key in self._held:
            self._budget.settle(self._held.pop(question.key), 0.0 if reply.fault else cost)
        elif not reply.fault:
            self._budget.spent += cost or 0.0
        self._number += 1
        self._answered(question, replace(reply, cost_usd=cost))
