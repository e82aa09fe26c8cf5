"""Concurrent prompts to a model with a ledger, limits and a budget, so that no answer is paid for twice."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.core.errors import NotValid
from assay.core.text_rules import storable
from assay.llm.judge import Context, Outcome
from assay.llm.model_reply import Reply, failure
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint, Question

if TYPE_CHECKING:
    from assay.llm.judges.bulk_judging import Answered, Verdict
    from assay.llm.judges.model_judge import ModelJudge
    from assay.llm.providers.question_run import Ended


class Prompt(NamedTuple):
    """A prompt, its system instructions, and data for the parser of the reply."""

    text: str
    system: str = ""
    about: str = ""


@dataclass(frozen=True)
class PromptReader:
    """The judge behind `PromptCalls`, whose context is a prompt and whose outcome has a usefulness."""

    read: Callable[[str, str], Outcome]
    most_tokens: int
    temperature: float = 0.0
    seed: int = 0

    def provenance(self) -> Mapping[str, Any]:
        """Return the settings of a question, except the model and the prompt."""
        return {"most_tokens": self.most_tokens, "temperature": self.temperature, "seed": self.seed}

    def questions(self, context: Context) -> list[Question]:
        """Return the prompt as a question; equal prompts have the same key."""
        identity = [self.provenance(), context.narrative, context.query]
        key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        return [Question(key, context.narrative, context.query, None, self.most_tokens, self.temperature, self.seed)]

    def read_one(self, context: Context, reply: Reply) -> Outcome:
        """Return the outcome of a reply, or why there is none."""
        return failure(reply) or replace(self.read(reply.text, context.text), raw=storable(reply.text))

    def together(self, outcomes: Sequence[Outcome]) -> Outcome:
        """Return the single outcome."""
        return outcomes[0]


class PromptCalls:
    """Calls of a model."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        ledger: str | Path | None = None,
        limits: Limits | None = None,
        budget_usd: float | None = None,
        max_calls: int | None = None,
        dry_run: bool = False,
    ) -> None:
        from assay.llm.judges.bulk_judging import Plan
        from assay.llm.judges.ledger import Ledger

        if budget_usd is not None and (endpoint.price_in is None or endpoint.price_out is None):
            raise NotValid("a budget in dollars needs the prices per million tokens read and written")
        who = ["prompts", endpoint.protocol.name, endpoint.base_url, endpoint.model]
        self.endpoint, self.limits, self.dry_run = endpoint, limits or Limits(), dry_run
        self._ledger = Ledger(None if ledger is None else Path(ledger), hashlib.sha256(repr(who).encode()).hexdigest())
        self._known = self._ledger.known(repair=not dry_run)
        self.budget = Budget(budget_usd, max_calls, self._known.spent, self._known.calls)
        self.plan = Plan(0, 0, 0, (0, 0), (0, 0), (0.0, 0.0))
        self.ended: Ended | None = None
        self.questions = self.tokens_in = self.tokens_out = 0
        self.models: Counter[str] = Counter()

    @property
    def spent(self) -> float | None:
        """Return the dollars spent by this object; None if prices are unknown."""
        known = self.endpoint.price_in is not None and self.endpoint.price_out is not None
        return self.budget.spent - self._known.spent if known else None

    @property
    def complete(self) -> bool:
        """Return whether all prompts so far were sent."""
        return self.ended is None or self.ended.end == "done"

    def ask(self, prompts: Sequence[Prompt], reader: PromptReader) -> list[Outcome | None]:
        """Send all prompts concurrently; outcomes and errors as in `judge`."""
        return self.judge(reader, [Context(one.text, one.about, narrative=one.system) for one in prompts])

    def judge(self, judge: ModelJudge, contexts: Sequence[Context]) -> list[Outcome | None]:
        """Send all questions of a judge about contexts concurrently."""
        from assay.llm.judges.bulk_judging import Asking, Plan

        asking = Asking(judge, self.endpoint, contexts, self._known.replies)
        self.plan = Plan.together([self.plan, asking.plan])
        outcomes: list[Outcome | None] = [None] * len(contexts)
        if self.dry_run:
            return outcomes

        def record(verdict: Verdict) -> None:
            outcomes[verdict.place] = verdict.outcome

        with self._ledger.opened(self.endpoint) as keep:

            def answered(call: Answered) -> None:
                keep(call)
                self._took(call)

            ended = asking.run(record, answered=answered, limits=self.limits, budget=self.budget)
        if ended.end == "refused":
            raise NotValid(f"{self.endpoint.protocol.title} refused: {ended.message}; earlier answers are saved")
        # An early end stays recorded even if all following questions are known.
        self.ended = ended if self.complete else self.ended
        return outcomes

    def _took(self, call: Answered) -> None:
        if not call.reply.fault:
            self._known.replies[call.question.key] = call.reply
        self.questions += 1
        self.tokens_in += call.reply.tokens_in or 0
        self.tokens_out += call.reply.tokens_out or 0
        self.models.update([call.reply.model] if call.reply.model else [])


def endpoint_of(
    model: str,
    *,
    provider: str = "openai",
    base_url: str = "",
    key: str = "",
    price_in: float | None = None,
    price_out: float | None = None,
) -> Endpoint:
    """Return a model endpoint; without a key, the key is read from the provider's environment variable."""
    protocol = PROTOCOLS[provider]
    key = key or os.environ.get(protocol.key_variable, "").strip()
    if not key and not base_url:
        raise NotValid(f"the environment variable {protocol.key_variable} is not set; set it to the key, or pass key=")
    return Endpoint(protocol, model, (base_url or protocol.base_url).rstrip("/"), key, price_in, price_out)
