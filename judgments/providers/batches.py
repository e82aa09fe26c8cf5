"""Batched questions: thousands at half the price, fetched when the provider has answered them.

The intent to submit a batch is recorded first, under a mark of our own, and its id as soon as it has one. So a run
that is killed at any moment finds its batches again and pays for none twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeVar

from judgments.core.errors import NotValid
from judgments.judges.answers import Reply
from judgments.providers.attempts import booked
from judgments.providers.batch_ways import MARK, WAYS, Caller, Down, Failed, Refused, Way, Wrong, new_mark
from judgments.providers.calls import Ended
from judgments.providers.errors import named_in
from judgments.providers.limits import Budget
from judgments.providers.protocol import Endpoint, Question
from judgments.providers.responses import WRONG_SHAPE, counted, told_names, unsaid

# What one batch may hold: the smaller of what the two providers allow, with room to spare.
MOST_QUESTIONS, MOST_BYTES = 50_000, 150_000_000
POLL = 60.0
Told = TypeVar("Told")


class Store(Protocol):
    """Where the batches that were sent are written down."""

    def load(self) -> dict[str, list[str]]:
        """The keys of the questions of each batch, by its id; or by its mark, where it was about to be left."""

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
        What each question can cost at most is held back before its batch is sent. What there is no room for is sent
        once the others are answered, and have cost less.
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
        self._others: dict[str, list[str]] = {}
        self._waiting: dict[str, Question] = {}
        self._held: dict[str, float | None] = {}
        # What a model does not take in some way, to be left once more in another.
        self._again: list[Question] = []
        # How the model was asked in each batch; in those of earlier runs as at first.
        self._first, self._sent_as = endpoint, dict[str, Endpoint]()
        self._number, self._said = 0, ""

    def whole(self, questions: Iterable[Question]) -> Ended:
        self._caller = Caller(self._endpoint)
        try:
            self._find()
            left = self._without_those_there(questions)
            while left or self._open:
                before, left = len(left), self._send(left)
                if len(left) == before and not self._open:
                    return Ended("budget", self._said, self._number, self._caller.calls)
                if not self._wait():
                    said = "stopped; the batches go on at the provider"
                    return Ended("stopped", said, self._number, self._caller.calls)
                left, self._again = left + self._again, []
        except (Refused, Failed) as fault:
            return Ended("refused", str(fault), self._number, self._caller.calls)
        except Down as fault:
            return Ended("down", f"{fault}. Go on later", self._number, self._caller.calls)
        finally:
            self._caller.close()
        return Ended("done", "", self._number, self._caller.calls)

    def _find(self) -> None:
        """Look for batches that an earlier run was about to leave when it ended: some are there."""
        for mark in [name for name in self._open if name.startswith(f"{MARK}-")]:
            batch = self._told(partial(self._way.find, self._caller, mark, len(self._open[mark]), self._open))
            keys = self._open.pop(mark)
            if batch is not None:
                self._open[batch] = keys
            self._save()

    def _without_those_there(self, questions: Iterable[Question]) -> list[Question]:
        """The questions that no batch holds; for the others money is held back, whether there is room or not."""
        there = {key for keys in self._open.values() for key in keys}
        left = []
        for question in questions:
            if question.key in there:
                self._waiting[question.key] = question
                self._held[question.key] = most = self._endpoint.most_cost(question)
                self._budget.hold(most)
            else:
                left.append(question)
        # Batches of other questions wait for whoever asks those.
        self._others = {name: keys for name, keys in self._open.items() if self._waiting.keys().isdisjoint(keys)}
        self._open = {name: keys for name, keys in self._open.items() if name not in self._others}
        return left

    def _send(self, questions: Sequence[Question]) -> list[Question]:
        """Send what there is money for, and answer what is left."""
        part: list[Question] = []
        size = 0
        for place, question in enumerate(questions):
            most = self._endpoint.most_cost(question)
            if not self._budget.reserve(most, wait=False):
                self._said = self._budget.no_room(most)
                self._sent(part)
                return list(questions[place:])
            self._waiting[question.key], self._held[question.key] = question, most
            length = len(question.prompt) * 4 + len(question.system) * 4 + 2_000
            if part and (len(part) >= MOST_QUESTIONS or size + length > MOST_BYTES):
                self._sent(part)
                part, size = [], 0
            part.append(question)
            size += length
        self._sent(part)
        return []

    def _sent(self, part: Sequence[Question]) -> None:
        if not part:
            return
        mark = new_mark()
        self._open[mark] = [question.key for question in part]
        self._save()
        try:
            batch = self._told(partial(self._way.send, self._caller, self._endpoint, part, mark))
        except Refused:
            # It was not taken, and nobody need look for it.
            del self._open[mark]
            self._save()
            self._release(part)
            raise
        except BaseException:
            self._release(part)
            raise
        self._open[batch], self._sent_as[batch] = self._open.pop(mark), self._endpoint
        self._save()

    def _release(self, part: Sequence[Question]) -> None:
        for question in part:
            self._budget.release(self._held.pop(question.key))

    def _save(self) -> None:
        self._store.save({**self._others, **self._open})

    def _wait(self) -> bool:
        """Look after the batches until none is open; False where it was stopped."""
        pause = threading.Event()
        while self._open:
            for batch in list(self._open):
                try:
                    found = self._told(partial(self._way.answers, self._caller, self._endpoint, batch))
                except Failed:
                    self._release([self._waiting.pop(key) for key in self._open.pop(batch) if key in self._waiting])
                    self._save()
                    raise
                if found is not None:
                    self._fetched(batch, found)
            if not self._open:
                return True
            if self._stop():
                return False
            pause.wait(self._poll)
        return True

    def _fetched(self, batch: str, told: Iterable[tuple[str, Any]]) -> None:
        keys, sent_as = dict.fromkeys(self._open[batch]), self._sent_as.get(batch, self._first)
        for key, one in chain(told, ((key, None) for key in keys)):
            # What was answered already, or is no question of this batch, is passed over.
            question = self._waiting.pop(key, None) if key in keys else None
            if question is not None and not self._left_out(question, one, sent_as):
                self._hand_over(question, self._reply(one))
        del self._open[batch]
        self._save()

    def _left_out(self, question: Question, told: Any, sent_as: Endpoint) -> bool:
        """Whether a question is to be asked again without what this model takes none of, and was told."""
        names = named_in(told.told, told_names(sent_as, question)) if isinstance(told, Wrong) else frozenset()
        if not names:
            return False
        self._endpoint = self._endpoint.without(names)
        self._release([question])
        self._again.append(question)
        return True

    def _told(self, asked: Callable[[], Told]) -> Told:
        """What the provider says of a batch; Down where it is said as no provider does: nobody knows what was taken."""
        try:
            return asked()
        except WRONG_SHAPE as odd:
            title = self._endpoint.protocol.title
            raise Down(f"no answer as {title} gives about batches ({type(odd).__name__})") from None

    def _reply(self, told: Any) -> Reply:
        if isinstance(told, Reply):
            return unsaid(self._endpoint, told)
        if isinstance(told, Wrong):
            return unsaid(self._endpoint, Reply(tokens_in=0, tokens_out=0, fault=told.said))
        if told is None:
            # Its line may be one that cannot be read: then it was answered, and is to be paid for.
            return Reply(fault="the batch ended without an answer to it")
        try:
            return unsaid(self._endpoint, self._endpoint.protocol.read(told))
        except WRONG_SHAPE:
            counts = counted(self._endpoint, told)
            return Reply("", "done", *counts, fault=f"no answer as {self._endpoint.protocol.title} gives")

    def _hand_over(self, question: Question, reply: Reply) -> None:
        endpoint = self._endpoint
        reply = booked(endpoint, reply, endpoint.most_read(endpoint.request(question)), question.most_tokens)
        self._budget.settle(self._held.pop(question.key), reply.cost_usd)
        self._number += 1
        self._answered(question, reply if reply.fault else replace(reply, left_out=endpoint.untold(question)))
