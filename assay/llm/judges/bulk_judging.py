"""Runs of a model judge over thousands of pairs, without paying for any answer twice.

The key of a question depends on everything that determines its answer: prompt, texts, parameters, provider and model. A
known answer is not requested again, and two pairs with the same text share a question. If an answer cannot be parsed,
the question is sent once more with different wording.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.llm.judge import Context, Outcome
from assay.llm.judges.model_judge import RETRIED_OUTCOMES, ModelJudge, again
from assay.llm.model_reply import Reply
from assay.llm.providers.limits import Budget, Limits, Ratio
from assay.llm.providers.protocol import Endpoint, Question
from assay.llm.providers.question_run import Ended, ask

if TYPE_CHECKING:
    from assay.llm.providers.response_body import Client

Asker = Callable[..., Ended]
# Minimum tokens of an answer: JSON with a grade and a few words.
SHORTEST_ANSWER = 20


@dataclass(frozen=True, slots=True)
class Answered:
    """One answered question, as the call log records it."""

    question: Question
    reply: Reply
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result for one pair: its outcome with all tokens and costs, the model, and the prompt hash."""

    place: int
    outcome: Outcome
    model: str
    prompt_sha256: str


@dataclass(frozen=True)
class Plan:
    """Estimate of a run before anything is sent."""

    pairs: int
    known: int
    questions: int
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    usd: tuple[float, float] | None

    @staticmethod
    def together(plans: Iterable[Plan]) -> Plan:
        """Add up several plans."""
        whole = Plan(0, 0, 0, (0, 0), (0, 0), (0.0, 0.0))
        for one in plans:
            whole = Plan(
                whole.pairs + one.pairs,
                whole.known + one.known,
                whole.questions + one.questions,
                (whole.tokens_in[0] + one.tokens_in[0], whole.tokens_in[1] + one.tokens_in[1]),
                (whole.tokens_out[0] + one.tokens_out[0], whole.tokens_out[1] + one.tokens_out[1]),
                None
                if whole.usd is None or one.usd is None
                else (whole.usd[0] + one.usd[0], whole.usd[1] + one.usd[1]),
            )
        return whole

    def __str__(self) -> str:
        cost = "unknown; add --price-in and --price-out"
        if self.usd is not None:
            cost = f"{self.usd[0]:.4f} to {self.usd[1]:.4f} USD"
        return (
            f"questions to ask: {self.questions}\nanswers known: {self.known}\n"
            f"tokens to read: {self.tokens_in[0]} to {self.tokens_in[1]}\n"
            f"tokens to write: {self.tokens_out[0]} to {self.tokens_out[1]}\ncost: {cost}\n"
        )


@dataclass
class _PendingQuestion:
    """A question with its retry, and the pairs that need it; the cost is assigned to the first pair."""

    which: int
    prompt_sha256: str
    places: list[int] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    done: bool = False


class Asking:
    """A run of a model judge over pairs, with the answers already known."""

    def __init__(
        self,
        judge: ModelJudge,
        endpoint: Endpoint,
        contexts: Sequence[Context],
        known: Mapping[str, Reply],
        ratio: Ratio | None = None,
    ) -> None:
        self._judge, self._endpoint, self._contexts, self._known = judge, endpoint, contexts, known
        # The questions by first key, the keys of each pair, and the first keys of the remaining questions.
        self._pending: dict[str, _PendingQuestion] = {}
        self._cases: list[list[str]] = []
        self._left: list[str] = []
        self._ratio = ratio or Ratio()
        self.plan = self._planned()

    def run(
        self,
        on_verdict: Callable[[Verdict], None],
        *,
        answered: Callable[[Answered], None] = lambda call: None,
        limits: Limits | None = None,
        budget: Budget | None = None,
        stop: Callable[[], bool] = lambda: False,
        client: Client | None = None,
        together: Callable[[Callable[[], None]], None] = lambda work: work(),
        by: Asker = ask,
    ) -> Ended:
        """Send the remaining questions; report each answer, and each pair when it is complete."""
        of: dict[str, str] = {}

        def wanted(left: Sequence[str]) -> Iterator[Question]:
            # Created again one at a time, so that thousands of prompts need not be kept.
            for first in left:
                question = self._question(first)
                of[question.key] = first
                yield question

        def came(question: Question, reply: Reply) -> None:
            first = of.pop(question.key)
            answered(Answered(question, reply, self._took(first, reply)))
            if not self._pending[first].done:
                self._left.append(first)
            else:
                self._report(self._pending[first].places, on_verdict)

        together(lambda: self._report(range(len(self._cases)), on_verdict))
        ended = Ended("done", "", 0, 0)
        while self._left and ended.end == "done":
            left, self._left = self._left, []
            one = by(
                self._endpoint,
                wanted(left),
                came,
                limits=limits,
                budget=budget,
                stop=stop,
                client=client,
                together=together,
            )
            ended = replace(one, answered=ended.answered + one.answered, attempts=ended.attempts + one.attempts)
        return ended

    def _planned(self) -> Plan:
        low = longest = 0
        for place, context in enumerate(self._contexts):
            fitted = [self._endpoint.fitted(one) for one in self._judge.questions(context)]
            questions = [replace(one, key=key_of(self._endpoint, one)) for one in fitted]
            self._cases.append([question.key for question in questions])
            for which, question in enumerate(questions):
                pending = self._pending.get(question.key)
                if pending is not None:
                    pending.places += [place] if pending.places[-1] != place else []
                    continue
                self._pending[question.key] = _PendingQuestion(which, prompt_sha256(question), [place])
                if not self._known_already(question):
                    low, longest = low + question.tokens, longest + question.most_tokens
        low = self._ratio.of(low)
        high = low * 3 // 2
        shortest = min(longest, SHORTEST_ANSWER * len(self._left))
        costs = self._endpoint.cost(low, shortest), self._endpoint.cost(high, longest)
        usd = None if costs[0] is None or costs[1] is None else (costs[0], costs[1])
        known = len(self._pending) - len(self._left)
        return Plan(len(self._cases), known, len(self._left), (low, high), (shortest, longest), usd)

    def _known_already(self, question: Question) -> bool:
        """Use the known answers to a question and its retry; return whether nothing is left to send."""
        first, pending = question.key, self._pending[question.key]
        while (reply := self._known.get(question.key)) is not None:
            self._took(first, reply)
            if reply.tokens_in is not None:
                self._ratio.add(estimated=question.tokens, counted=reply.tokens_in)
            if pending.done:
                return True
            question = self._question(first)
        self._left.append(first)
        return False

    def _question(self, first: str) -> Question:
        """Return the question to send now: the question itself, or its retry."""
        pending = self._pending[first]
        context = self._contexts[pending.places[0]]
        question = self._endpoint.fitted(self._judge.questions(context)[pending.which])
        if pending.replies:
            question = again(question, self._judge.read_one(context, pending.replies[-1])) or question
        return replace(question, key=key_of(self._endpoint, question))

    def _took(self, first: str, reply: Reply) -> Outcome:
        pending = self._pending[first]
        outcome = self._judge.read_one(self._contexts[pending.places[0]], reply)
        pending.replies.append(reply)
        pending.done = len(pending.replies) > 1 or outcome.name not in RETRIED_OUTCOMES
        return outcome

    def _report(self, places: Sequence[int], on_verdict: Callable[[Verdict], None]) -> None:
        """Report the complete pairs."""
        for place in places:
            every = [self._pending[key] for key in self._cases[place]]
            if not every or not all(one.done for one in every):
                continue
            context = self._contexts[place]
            outcome = self._judge.together([self._judge.read_one(context, one.replies[-1]) for one in every])
            paid = [reply for one in every for reply in one.replies if one.places[0] == place]
            on_verdict(Verdict(place, _with_costs(outcome, paid), _model(every), every[0].prompt_sha256))


def outcomes(
    judge: ModelJudge,
    endpoint: Endpoint,
    contexts: Sequence[Context],
    *,
    limits: Limits | None = None,
    budget: Budget | None = None,
) -> list[Outcome]:
    """Return an outcome for each context, in order, as every judge does. A pair without an answer because the run
    ended early has the outcome ``transport_error``, with the reason.
    """
    by_place: dict[int, Outcome] = {}
    ended = Asking(judge, endpoint, contexts, {}).run(
        lambda verdict: by_place.update({verdict.place: verdict.outcome}), limits=limits, budget=budget
    )
    missing = Outcome("transport_error", raw=ended.message or "not asked")
    return [by_place.get(place, missing) for place in range(len(contexts))]


def _with_costs(outcome: Outcome, replies: Sequence[Reply]) -> Outcome:
    """Return the outcome with the costs of all its calls; a pair that shares an answer costs nothing."""
    read = [reply.tokens_in for reply in replies if reply.tokens_in is not None]
    written = [reply.tokens_out for reply in replies if reply.tokens_out is not None]
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    return replace(
        outcome,
        tokens_in=sum(read) if read or not replies else None,
        tokens_out=sum(written) if written or not replies else None,
        cost_usd=math.fsum(costs) if costs or not replies else None,
    )


def _model(every: Sequence[_PendingQuestion]) -> str:
    return next((reply.model for one in every for reply in reversed(one.replies) if reply.model), "")


def key_of(endpoint: Endpoint, question: Question) -> str:
    """Return the key of an answer: a hash of everything that determines it, including provider and address."""
    parts: list[Any] = [endpoint.protocol.name, endpoint.base_url, endpoint.model, question.key]
    # Without settings, keys stay the same as before settings existed.
    parts += [endpoint.settings] if endpoint.settings else []
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def prompt_sha256(question: Question) -> str:
    """Return the hash of the prompt."""
    return hashlib.sha256(f"{question.system}\0{question.prompt}".encode()).hexdigest()
