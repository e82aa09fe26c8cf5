"""Run a model judge over thousands of pairs, without paying for any answer twice.

The key of a question contains everything that decides its answer: prompt, texts, parameters, provider and model. An
answer known under its key is not requested again, and two pairs with the same text share one question. An answer
that cannot be parsed is requested once more, in other words.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judgments.judges.answers import Reply
from judgments.judges.contract import Context, Outcome
from judgments.judges.model_judge import ASKED_AGAIN, ModelJudge, again
from judgments.providers.calls import Ended, ask
from judgments.providers.limits import Budget, Limits
from judgments.providers.pace import Ratio
from judgments.providers.protocol import Endpoint, Question

if TYPE_CHECKING:
    from judgments.providers.reading import Client

Asker = Callable[..., Ended]
# What an answer takes at least: JSON with a grade and few words.
SHORTEST_ANSWER = 20


@dataclass(frozen=True, slots=True)
class Answered:
    """One question that was answered: what a ledger keeps.

    Parameters
    ----------
    question : Question
        With the key under which the answer is known from now on.
    reply : Reply
        What came back.
    outcome : Outcome
        How it was read.
    """

    question: Question
    reply: Reply
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a pair got: its outcome with all tokens and costs, the model that answered, and what was asked."""

    place: int
    outcome: Outcome
    model: str
    prompt_sha256: str


@dataclass(frozen=True)
class Plan:
    """What asking would take, before anything is asked.

    Parameters
    ----------
    pairs, known, questions : int
        Pairs, questions whose answer is known, and questions that are left.
    tokens_in, tokens_out : (int, int)
        Low and high: read by four characters a token, corrected by what the provider counted of questions whose answers
        are known, and half as many again; written as short or as long as can be.
    usd : (float, float) or None
        The same in dollars; None where prices are not known.
    """

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
        cost = "not known; give --price-in and --price-out"
        if self.usd is not None:
            cost = f"{self.usd[0]:.4f} to {self.usd[1]:.4f} USD"
        return (
            f"questions to ask: {self.questions}\nanswers known: {self.known}\n"
            f"tokens to read: {self.tokens_in[0]} to {self.tokens_in[1]}\n"
            f"tokens to write: {self.tokens_out[0]} to {self.tokens_out[1]}\ncost: {cost}\n"
        )


@dataclass
class _Asked:
    """One question with its repetition, and the pairs that wait for it; the first of them pays."""

    which: int
    prompt_sha256: str
    places: list[int] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    done: bool = False


class Asking:
    """Pairs, a judge and a model, with what is known already.

    Parameters
    ----------
    judge : ModelJudge
        What is asked.
    endpoint : Endpoint
        Who is asked.
    contexts : sequence of Context
        The pairs.
    known : mapping of str to Reply
        Answers from before, by `key_of`.
    ratio : Ratio, optional
        What the provider counted of other questions, for the plan.
    """

    def __init__(
        self,
        judge: ModelJudge,
        endpoint: Endpoint,
        contexts: Sequence[Context],
        known: Mapping[str, Reply],
        ratio: Ratio | None = None,
    ) -> None:
        self._judge, self._endpoint, self._contexts, self._known = judge, endpoint, contexts, known
        # The questions by their first key, the keys of each pair, and the first keys of what is left to ask.
        self._asked: dict[str, _Asked] = {}
        self._cases: list[list[str]] = []
        self._left: list[str] = []
        self._ratio = ratio or Ratio()
        self.plan = self._planned()

    def run(
        self,
        told: Callable[[Verdict], None],
        *,
        answered: Callable[[Answered], None] = lambda call: None,
        limits: Limits | None = None,
        budget: Budget | None = None,
        stop: Callable[[], bool] = lambda: False,
        client: Client | None = None,
        together: Callable[[Callable[[], None]], None] = lambda work: work(),
        by: Asker = ask,
    ) -> Ended:
        """Ask what is left; hand over each answer, and each pair as soon as it is whole.

        Parameters
        ----------
        told : callable
            Called with each pair whose questions are all answered, one call after the other.
        answered : callable
            Called with each answer before its pair is told: whoever keeps it never has to ask again.
        limits, budget, stop, client, together
            As in `judgments.providers.calls.ask`; pairs whose answers are known are told in one go before all others.
        by : callable
            Who asks: that function, or one that takes and gives the same.

        Returns
        -------
        Ended
            Why it ended. A pair that waits for a second question when the run ends early is not told.
        """
        of: dict[str, str] = {}

        def wanted(left: Sequence[str]) -> Iterator[Question]:
            # Made anew one by one: thousands of prompts need not be kept.
            for first in left:
                question = self._question(first)
                of[question.key] = first
                yield question

        def came(question: Question, reply: Reply) -> None:
            first = of.pop(question.key)
            answered(Answered(question, reply, self._took(first, reply)))
            if not self._asked[first].done:
                self._left.append(first)
            else:
                self._tell(self._asked[first].places, told)

        together(lambda: self._tell(range(len(self._cases)), told))
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
            asked_of = [self._endpoint.fitted(one) for one in self._judge.questions(context)]
            questions = [replace(one, key=key_of(self._endpoint, one)) for one in asked_of]
            self._cases.append([question.key for question in questions])
            for which, question in enumerate(questions):
                asked = self._asked.get(question.key)
                if asked is not None:
                    asked.places += [place] if asked.places[-1] != place else []
                    continue
                self._asked[question.key] = _Asked(which, prompt_sha256(question), [place])
                if not self._known_already(question):
                    low, longest = low + question.tokens, longest + question.most_tokens
        low = self._ratio.of(low)
        high = low * 3 // 2
        shortest = min(longest, SHORTEST_ANSWER * len(self._left))
        costs = self._endpoint.cost(low, shortest), self._endpoint.cost(high, longest)
        usd = None if costs[0] is None or costs[1] is None else (costs[0], costs[1])
        known = len(self._asked) - len(self._left)
        return Plan(len(self._cases), known, len(self._left), (low, high), (shortest, longest), usd)

    def _known_already(self, question: Question) -> bool:
        """Take what is known of a question and of its repetition; what is left to ask is put down."""
        first, asked = question.key, self._asked[question.key]
        while (reply := self._known.get(question.key)) is not None:
            self._took(first, reply)
            if reply.tokens_in is not None:
                self._ratio.add(estimated=question.tokens, counted=reply.tokens_in)
            if asked.done:
                return True
            question = self._question(first)
        self._left.append(first)
        return False

    def _question(self, first: str) -> Question:
        """What is to be asked now: the question, or its repetition."""
        asked = self._asked[first]
        context = self._contexts[asked.places[0]]
        question = self._endpoint.fitted(self._judge.questions(context)[asked.which])
        if asked.replies:
            question = again(question, self._judge.read_one(context, asked.replies[-1])) or question
        return replace(question, key=key_of(self._endpoint, question))

    def _took(self, first: str, reply: Reply) -> Outcome:
        asked = self._asked[first]
        outcome = self._judge.read_one(self._contexts[asked.places[0]], reply)
        asked.replies.append(reply)
        asked.done = len(asked.replies) > 1 or outcome.name not in ASKED_AGAIN
        return outcome

    def _tell(self, places: Sequence[int], told: Callable[[Verdict], None]) -> None:
        """Hand over the pairs among these that are whole."""
        for place in places:
            every = [self._asked[key] for key in self._cases[place]]
            if not every or not all(one.done for one in every):
                continue
            context = self._contexts[place]
            outcome = self._judge.together([self._judge.read_one(context, one.replies[-1]) for one in every])
            paid = [reply for one in every for reply in one.replies if one.places[0] == place]
            told(Verdict(place, _with_costs(outcome, paid), _model(every), every[0].prompt_sha256))


def outcomes(
    judge: ModelJudge,
    endpoint: Endpoint,
    contexts: Sequence[Context],
    *,
    limits: Limits | None = None,
    budget: Budget | None = None,
) -> list[Outcome]:
    """Answer a batch of contexts, as every judge does: an outcome for each, in their order.

    A pair that was not asked because the run ended early has the outcome ``transport_error``, with the reason.
    """
    found: dict[int, Outcome] = {}
    ended = Asking(judge, endpoint, contexts, {}).run(
        lambda verdict: found.update({verdict.place: verdict.outcome}), limits=limits, budget=budget
    )
    missing = Outcome("transport_error", raw=ended.said or "not asked")
    return [found.get(place, missing) for place in range(len(contexts))]


def _with_costs(outcome: Outcome, replies: Sequence[Reply]) -> Outcome:
    """With what all the calls for it took; a pair that shares the answer of another one cost nothing."""
    read = [reply.tokens_in for reply in replies if reply.tokens_in is not None]
    written = [reply.tokens_out for reply in replies if reply.tokens_out is not None]
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    return replace(
        outcome,
        tokens_in=sum(read) if read or not replies else None,
        tokens_out=sum(written) if written or not replies else None,
        cost_usd=math.fsum(costs) if costs or not replies else None,
    )


def _model(every: Sequence[_Asked]) -> str:
    return next((reply.model for one in every for reply in reversed(one.replies) if reply.model), "")


def key_of(endpoint: Endpoint, question: Question) -> str:
    """What an answer is kept under: all that decides it, the provider, its address and the model among it."""
    told: list[Any] = [endpoint.protocol.name, endpoint.base_url, endpoint.model, question.key]
    # Where nothing was set a key is what it was before anything could be.
    told += [endpoint.settings] if endpoint.settings else []
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def prompt_sha256(question: Question) -> str:
    """The hash of the words that a model got."""
    return hashlib.sha256(f"{question.system}\0{question.prompt}".encode()).hexdigest()
