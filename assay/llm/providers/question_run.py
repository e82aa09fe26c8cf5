"""Send thousands of questions in parallel, within limits, without losing paid answers.

Workers take questions one at a time, so memory does not grow with their number. Each answer is passed on as it arrives;
the caller records it and sends only the missing questions when the run resumes.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from assay.core.text_rules import amount
from assay.llm.model_reply import Reply
from assay.llm.providers.limits import Budget, Limits, pace_of
from assay.llm.providers.protocol import Endpoint, Question
from assay.llm.providers.response_body import TooLong, failed_before_sending, plain_client, post_question
from assay.llm.providers.responses import Busy, Hopeless, NotUnderstood, Unwanted, hidden, read

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


FIRST_WAIT = 0.5


def booked(endpoint: Endpoint, reply: Reply, most_read: int, most_written: int) -> Reply:
    """Return a reply with its cost, or with the highest possible cost if the provider counted nothing."""
    cost, estimated = endpoint.cost_at_most(reply.tokens_in, reply.tokens_out, most_read, most_written)
    return replace(
        reply,
        tokens_in=None if reply.fault and not reply.tokens_in else reply.tokens_in,
        tokens_out=None if reply.fault and not reply.tokens_out else reply.tokens_out,
        cost_usd=cost,
        estimated=estimated,
    )


class Attempts:
    """All attempts at a question, after which no budget is reserved for it."""

    def __init__(self, run: Run, taken: Taken) -> None:
        self._run, self._taken = run, taken
        self._held, self._lost, self._any_lost = True, 0.0, False

    def reply(self) -> Reply | None:
        """Return the answer with its booked cost; None if the run ended and nothing was spent."""
        began = time.monotonic()
        try:
            reply = self._tried()
        except Hopeless as fault:
            self._run.finish("refused", str(fault))
            reply = None
        except BaseException:
            # Calls that wait for the reserved budget must not wait forever.
            self._let_go()
            raise
        if reply is None and not self._any_lost:
            self._let_go()
            return None
        return replace(self._booked(reply), seconds=time.monotonic() - began)

    def _tried(self) -> Reply | None:
        """Return the answer, or the failure after all attempts; None if the run ended meanwhile."""
        run, limits, fault, wait, attempt = self._run, self._run.limits, "", 0.0, 0
        while attempt < limits.attempts:
            rest = run.pace.take(self._taken.question.tokens, self._taken.question.most_tokens)
            if run.over.wait(max(wait, rest)):
                return None
            try:
                with run.pace.in_flight():
                    if run.over.is_set():
                        return None
                    return run.once(self._taken)
            except Unwanted as unwanted:
                # Each names a parameter that was sent, so this ends, and it costs no attempt.
                self._taken, wait = run.without(self._taken, unwanted.names), 0.0
            except NotUnderstood as wrong:
                run.count_wrong(str(wrong))
                read, written = wrong.written or (0, 0)
                return Reply(tokens_in=read, tokens_out=written, fault=str(wrong))
            except Busy as busy:
                fault, attempt = str(busy), attempt + 1
                if busy.unsure and not self._again(last=attempt == limits.attempts):
                    break
                if busy.wait is not None and not run.patient(busy.wait, fault):
                    return None
                wait = self._pause(attempt) if busy.wait is None else busy.wait
        return Reply(
            tokens_in=0, tokens_out=0, fault=f"no answer after {amount(attempt, 'attempt')}; last error: {fault}"
        )

    def _pause(self, attempt: int) -> float:
        """Return the wait before the next attempt if the provider does not state one."""
        # Half of the wait is random, so that workers that failed together do not retry together.
        wait = FIRST_WAIT * 2.0 ** (attempt - 1) * (0.5 + random.random() / 2)  # noqa: S311
        return min(wait, self._run.limits.longest_wait)

    def _again(self, *, last: bool) -> bool:
        """Book the possible cost of an attempt and reserve the same for another; False without budget."""
        budget, held = self._run.budget, self._taken.held
        self._lost, self._any_lost, self._held = self._lost + (held or 0.0), True, False
        if last:
            budget.settle(held, None)
        elif budget.lose(held):
            self._held = True
        else:
            self._run.finish("budget", budget.no_room(held))
        return self._held

    def _booked(self, reply: Reply | None) -> Reply:
        """Return the reply with the cost of all attempts."""
        run, taken = self._run, self._taken
        if reply is None:
            reply = Reply(tokens_in=0, tokens_out=0, fault=f"the run ended: {run.why}")
        if reply.tokens_in:
            run.compare(taken, reply)
        reply = booked(taken.endpoint, reply, taken.most_read, taken.most_written)
        if self._held:
            run.budget.settle(taken.held, reply.cost_usd)
        return replace(
            reply,
            cost_usd=None if reply.cost_usd is None else self._lost + reply.cost_usd,
            estimated=reply.estimated or (self._any_lost and reply.cost_usd is not None),
            left_out=() if reply.fault else taken.endpoint.unsupported(taken.question),
        )

    def _let_go(self) -> None:
        if self._held:
            self._run.budget.release(self._taken.held)


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
