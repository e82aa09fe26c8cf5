"""Batched questions: thousands at half the price, fetched when the provider has answered them.

The intent to submit a batch is recorded first, with a generated mark, and its id as soon as it is known. A run that is
killed at any time therefore finds its batches again and pays for none twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeVar

from assay.core.errors import NotValid
from assay.llm.model_reply import Reply
from assay.llm.providers.batch_protocols import (
    BATCH_PROTOCOLS,
    MARK,
    BatchProtocol,
    Caller,
    Down,
    Failed,
    QuestionError,
    Refused,
    new_mark,
)
from assay.llm.providers.limits import Budget
from assay.llm.providers.protocol import Endpoint, Question
from assay.llm.providers.question_run import Ended, booked
from assay.llm.providers.responses import WRONG_SHAPE, counted, named_in, removable_parts, without_key

# Maximum size of a batch: the smaller of both providers' limits, with a margin.
MOST_QUESTIONS, MOST_BYTES = 50_000, 150_000_000
POLL = 60.0
Value = TypeVar("Value")


class Store(Protocol):
    """Storage of submitted batches."""

    def load(self) -> dict[str, list[str]]:
        """Return the question keys of each batch by its id, or by its mark if it was not yet submitted."""

    def save(self, batches: Mapping[str, Sequence[str]]) -> None:
        """Store the batches atomically."""


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
    """Submit all questions in batches, wait, and pass on each answer."""
    batch_protocol = BATCH_PROTOCOLS.get(endpoint.protocol.name)
    if batch_protocol is None:
        raise NotValid(f"{endpoint.protocol.title} does not support batches; {', '.join(BATCH_PROTOCOLS)} do")
    return _Batches(endpoint, batch_protocol, store, budget or Budget(), answered, stop, poll).run(questions)


class _Batches:
    def __init__(
        self,
        endpoint: Endpoint,
        batch_protocol: BatchProtocol,
        store: Store,
        budget: Budget,
        answered: Callable[[Question, Reply], None],
        stop: Callable[[], bool],
        poll: float,
    ) -> None:
        self._endpoint, self._batch_protocol, self._store, self._budget = endpoint, batch_protocol, store, budget
        self._answered, self._stop, self._poll = answered, stop, poll
        self._open = dict(store.load())
        self._others: dict[str, list[str]] = {}
        self._waiting: dict[str, Question] = {}
        self._held: dict[str, float | None] = {}
        # Maximum number of times to leave out rejected parameters.
        self._again: list[Question] = []
        # The endpoint settings of each batch; the initial settings for batches of earlier runs.
        self._first, self._endpoints = endpoint, dict[str, Endpoint]()
        self._number, self._budget_message = 0, ""

    def run(self, questions: Iterable[Question]) -> Ended:
        self._caller = Caller(self._endpoint)
        try:
            self._find()
            left = self._hold_submitted(questions)
            while left or self._open:
                before, left = len(left), self._send_affordable(left)
                if len(left) == before and not self._open:
                    return Ended("budget", self._budget_message, self._number, self._caller.calls)
                if not self._wait():
                    message = "stopped; the provider continues to process the batches"
                    return Ended("stopped", message, self._number, self._caller.calls)
                left, self._again = left + self._again, []
        except (Refused, Failed) as fault:
            return Ended("refused", str(fault), self._number, self._caller.calls)
        except Down as fault:
            return Ended("down", f"{fault}. Resume later", self._number, self._caller.calls)
        finally:
            self._caller.close()
        return Ended("done", "", self._number, self._caller.calls)

    def _find(self) -> None:
        """Locate batches that an earlier run was about to submit when it ended."""
        for mark in [name for name in self._open if name.startswith(f"{MARK}-")]:
            find = partial(self._batch_protocol.find, self._caller, mark, len(self._open[mark]), self._open)
            batch = self._request(find)
            keys = self._open.pop(mark)
            if batch is not None:
                self._open[batch] = keys
            self._save()

    def _hold_submitted(self, questions: Iterable[Question]) -> list[Question]:
        """Return the questions that are in no batch; reserve budget for the others, even beyond the limit."""
        there = {key for keys in self._open.values() for key in keys}
        left = []
        for question in questions:
            if question.key in there:
                self._waiting[question.key] = question
                self._held[question.key] = most = self._endpoint.most_cost(question)
                self._budget.hold(most)
            else:
                left.append(question)
        # Batches of other questions wait for the call with these questions.
        self._others = {name: keys for name, keys in self._open.items() if self._waiting.keys().isdisjoint(keys)}
        self._open = {name: keys for name, keys in self._open.items() if name not in self._others}
        return left

    def _send_affordable(self, questions: Sequence[Question]) -> list[Question]:
        """Submit the questions that the budget allows, and return the others."""
        part: list[Question] = []
        size = 0
        for place, question in enumerate(questions):
            most = self._endpoint.most_cost(question)
            if not self._budget.reserve(most, wait=False):
                self._budget_message = self._budget.no_room(most)
                self._send_batch(part)
                return list(questions[place:])
            self._waiting[question.key], self._held[question.key] = question, most
            length = len(question.prompt) * 4 + len(question.system) * 4 + 2_000
            if part and (len(part) >= MOST_QUESTIONS or size + length > MOST_BYTES):
                self._send_batch(part)
                part, size = [], 0
            part.append(question)
            size += length
        self._send_batch(part)
        return []

    def _send_batch(self, part: Sequence[Question]) -> None:
        if not part:
            return
        mark = new_mark()
        self._open[mark] = [question.key for question in part]
        self._save()
        try:
            batch = self._request(partial(self._batch_protocol.send, self._caller, self._endpoint, part, mark))
        except Refused:
            # The provider did not accept it, so there is no batch to look for.
            del self._open[mark]
            self._save()
            self._release(part)
            raise
        except BaseException:
            self._release(part)
            raise
        self._open[batch], self._endpoints[batch] = self._open.pop(mark), self._endpoint
        self._save()

    def _release(self, part: Sequence[Question]) -> None:
        for question in part:
            self._budget.release(self._held.pop(question.key))

    def _save(self) -> None:
        self._store.save({**self._others, **self._open})

    def _wait(self) -> bool:
        """Poll the batches until none is open; False if the run was stopped."""
        pause = threading.Event()
        while self._open:
            for batch in list(self._open):
                try:
                    answers = self._request(partial(self._batch_protocol.answers, self._caller, self._endpoint, batch))
                except Failed:
                    self._release([self._waiting.pop(key) for key in self._open.pop(batch) if key in self._waiting])
                    self._save()
                    raise
                if answers is not None:
                    self._deliver(batch, answers)
            if not self._open:
                return True
            if self._stop():
                return False
            pause.wait(self._poll)
        return True

    def _deliver(self, batch: str, results: Iterable[tuple[str, Any]]) -> None:
        keys, endpoint = dict.fromkeys(self._open[batch]), self._endpoints.get(batch, self._first)
        for key, one in chain(results, ((key, None) for key in keys)):
            # Skip questions that are already answered or not in this batch.
            question = self._waiting.pop(key, None) if key in keys else None
            if question is not None and not self._retry_without_refused(question, one, endpoint):
                self._hand_over(question, self._reply(one))
        del self._open[batch]
        self._save()

    def _retry_without_refused(self, question: Question, result: Any, endpoint: Endpoint) -> bool:
        """Return whether to send a question again without the parameters that the model refused."""
        if not isinstance(result, QuestionError):
            return False
        names = named_in(result.error, removable_parts(endpoint, question))
        if not names:
            return False
        self._endpoint = self._endpoint.without(names)
        self._release([question])
        self._again.append(question)
        return True

    def _request(self, request: Callable[[], Value]) -> Value:
        """Call the provider; raise `Down` for an unexpected response, because the batch may have been accepted."""
        try:
            return request()
        except WRONG_SHAPE as odd:
            title = self._endpoint.protocol.title
            raise Down(f"unexpected batch response from {title} ({type(odd).__name__})") from None

    def _reply(self, result: Any) -> Reply:
        if isinstance(result, Reply):
            return without_key(self._endpoint, result)
        if isinstance(result, QuestionError):
            return without_key(self._endpoint, Reply(tokens_in=0, tokens_out=0, fault=result.message))
        if result is None:
            # Its line may be unreadable; then it was answered and charged.
            return Reply(fault="the batch ended without an answer to this question")
        try:
            return without_key(self._endpoint, self._endpoint.protocol.read(result))
        except WRONG_SHAPE:
            counts = counted(self._endpoint, result)
            return Reply("", "done", *counts, fault=f"unexpected response from {self._endpoint.protocol.title}")

    def _hand_over(self, question: Question, reply: Reply) -> None:
        endpoint = self._endpoint
        reply = booked(endpoint, reply, endpoint.most_read(endpoint.request(question)), question.most_tokens)
        self._budget.settle(self._held.pop(question.key), reply.cost_usd)
        self._number += 1
        self._answered(question, reply if reply.fault else replace(reply, left_out=endpoint.unsupported(question)))
