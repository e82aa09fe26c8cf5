"""Pass answers from many threads to one consumer, in groups and never concurrently.

A consumer that stores answers in a database commits them. Other answers arrive during a commit; the next free thread
then passes on all waiting answers together, and each thread continues when its own answer is stored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from assay.llm.model_reply import Reply
from assay.llm.providers.protocol import Question


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
        self._handing, self._giving = threading.Lock(), threading.Lock()
        self._waiting: list[_Given] = []

    def give(self, question: Question, reply: Reply) -> None:
        """Pass on one answer; return once it is processed, and raise the consumer's error."""
        mine = _Given(question, reply)
        with self._giving:
            self._waiting.append(mine)
        with self._handing:
            if not mine.over:
                self._hand_over()
        if mine.broken is not None:
            raise mine.broken

    def _hand_over(self) -> None:
        with self._giving:
            every, self._waiting = self._waiting, []

        def work() -> None:
            for one in every:
                self._each(one.question, one.reply)

        try:
            self._together(work)
        except BaseException as error:
            for one in every:
                one.broken = error
        for one in every:
            one.over = True
