"""A critic that calls a provider's model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from assay.core.errors import NotValid
from assay.llm.judge import Outcome
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import Endpoint
from assay.rag.critic import SCALES, CriticError, LLMCritic, number_in, on_scale
from assay.rag.metric import Skip
from assay.rag.prompt_calls import Prompt, PromptCalls, PromptReader, endpoint_of

if TYPE_CHECKING:
    from assay.llm.providers.question_run import Ended

MOST_TOKENS = 100
# The reason of a sample without a score, by the outcome of its question.
REASONS = {
    "unparseable": "critic_unparseable",
    "truncated": "critic_unparseable",
    "out_of_scale": "critic_off_scale",
}


class Calls(Protocol):
    """Calls of a model: `PromptCalls`, or another class with its `ask` and `ended`."""

    ended: Ended | None

    def ask(self, prompts: Sequence[Prompt], reader: PromptReader) -> list[Outcome | None]:
        """Return the outcome of each prompt; None for prompts that were not sent."""


class ProviderCritic(LLMCritic):
    """A critic over a model of OpenAI, Anthropic, Gemini, or any server with one of their APIs.

    Parameters
    ----------
    model : str, Endpoint or Calls
        The model. An endpoint replaces ``provider`` to ``price_out``; calls replace all parameters up to ``dry_run``.
    provider, base_url, key : str
        The provider. Without a key it is read from the provider's environment variable.
    price_in, price_out : float, optional
        Dollars per million tokens read and written.
    ledger : path, optional
        A JSONL file of all calls. Recorded calls are not repeated, even by a later process.
    budget_usd, max_calls : float or int, optional
        Spending limits, including calls in the ledger.
    concurrency : int
        Maximum number of parallel questions.
    limits : Limits, optional
        Full rate limits, instead of ``concurrency``.
    most_tokens : int
        Maximum tokens per reply.
    dry_run : bool
        Send nothing, and estimate calls and cost in ``calls.plan``.

    Attributes
    ----------
    calls : Calls
        The calls so far, with tokens and cost.

    Raises
    ------
    NotValid
        When there is no key, or no price for a budget in dollars.

    Examples
    --------
    >>> critic = ProviderCritic("a-model", base_url="http://localhost:8000/v1", ledger=None)
    >>> critic.calls.endpoint.url
    'http://localhost:8000/v1/chat/completions'
    """

    def __init__(
        self,
        model: str | Endpoint | Calls,
        *,
        provider: str = "openai",
        base_url: str = "",
        key: str = "",
        price_in: float | None = None,
        price_out: float | None = None,
        ledger: str | Path | None = None,
        budget_usd: float | None = None,
        max_calls: int | None = None,
        concurrency: int = 8,
        limits: Limits | None = None,
        most_tokens: int = MOST_TOKENS,
        dry_run: bool = False,
    ) -> None:
        if isinstance(model, str):
            model = endpoint_of(
                model, provider=provider, base_url=base_url, key=key, price_in=price_in, price_out=price_out
            )
        if isinstance(model, Endpoint):
            model = PromptCalls(
                model,
                ledger=ledger,
                limits=limits or Limits(concurrency=concurrency),
                budget_usd=budget_usd,
                max_calls=max_calls,
                dry_run=dry_run,
            )
        self.calls = model
        self._reader = PromptReader(_read, most_tokens)

    def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
        """Return the score of a prompt.

        Raises
        ------
        CriticError
            When there is no score; `reason` contains the cause.
        """
        (score,) = self.score_all([prompt], [metadata or {}])
        if isinstance(score, CriticError):
            raise score
        return score

    def score_all(self, prompts: Sequence[str], metadata: Sequence[Mapping[str, Any]]) -> list[float | CriticError]:
        """Score all prompts concurrently, in order.

        Raises
        ------
        NotValid
            When the provider refuses the key, the model or the questions.
        """
        pairs = list(zip(prompts, metadata, strict=True))
        questions = [Prompt(text, str(of.get("system", "")), str(of.get("scale", ""))) for text, of in pairs]
        outcomes = self.calls.ask(questions, self._reader)
        return [self._score(outcome, one.about) for outcome, one in zip(outcomes, questions, strict=True)]

    def _score(self, outcome: Outcome | None, scale: str) -> float | CriticError:
        if outcome is None:
            return CriticError(self.calls.ended.message if self.calls.ended else "not asked", "critic_not_asked")
        if outcome.name == "graded":
            return number_in(outcome.raw, _highest(scale))
        return CriticError(outcome.raw or outcome.name, REASONS.get(outcome.name, "critic_error"))


def _read(text: str, scale: str) -> Outcome:
    """Parse the score of a reply; without a scale, any number is valid."""
    try:
        value = number_in(text, _highest(scale))
    except CriticError:
        return Outcome("unparseable")
    mapped = on_scale(value, scale) if scale else 0.0
    return Outcome("out_of_scale") if isinstance(mapped, Skip) else Outcome("graded", usefulness=mapped)


def _highest(scale: str) -> float | None:
    if scale and scale not in SCALES:
        raise NotValid(f"unknown scale {scale!r}; known: {', '.join(SCALES)}")
    return SCALES[scale][1] if scale else None
