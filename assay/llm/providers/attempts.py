"""Retries of a question, and the maximum cost of all its attempts. Token counts from the provider are trusted.
Without counts, the highest possible cost is booked, because an interrupted attempt may have been answered and
charged. A spending limit is therefore never exceeded.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace

from assay.core.counted_nouns import amount
from assay.llm.model_reply import Reply
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Run, Taken
from assay.llm.providers.responses import Busy, Hopeless, NotUnderstood, Unwanted

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
