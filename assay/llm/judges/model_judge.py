"""Base classes of judges that call a model, and the settings of their prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from assay.llm.judge import Context, Need, Outcome
from assay.llm.judges.graded_relevance import Example, GradeMeaning
from assay.llm.judges.prompt_templates import LONGEST_DOCUMENT, Template
from assay.llm.model_reply import Reply
from assay.llm.providers.protocol import Question

if TYPE_CHECKING:
    from assay.text_metrics import TextMetric

# Outcomes that are retried once; other outcomes would be the same again.
RETRIED_OUTCOMES = frozenset({"unparseable", "truncated"})
LONGER = 4
REPAIR = (
    "\n\nAn earlier answer to this question could not be read. Answer again, in exactly the form that is asked for "
    "above, and write nothing else."
)


@dataclass(frozen=True)
class JudgeOptions:
    """Prompt settings of a judge that calls a model."""

    scale: Sequence[GradeMeaning] = ()
    guidelines: str = ""
    examples: Sequence[Example] = ()
    relevant_from: int | None = None
    most_tokens: int | None = None
    most_characters: int = LONGEST_DOCUMENT
    temperature: float = 0.0
    seed: int = 0
    probabilities: bool = False
    text_metric: TextMetric | None = None
    template: Template | None = None


class ModelJudge(Protocol):
    """A judge that asks a model one or more questions about a pair."""

    def provenance(self) -> Mapping[str, Any]:
        """Return everything that determines the prompt and its parsing, except the model and the pair."""

    def questions(self, context: Context) -> list[Question]:
        """Return the questions about one pair; equal questions have equal keys."""

    def read_one(self, context: Context, reply: Reply) -> Outcome:
        """Parse one reply."""

    def together(self, outcomes: Sequence[Outcome]) -> Outcome:
        """Combine the outcomes of all questions about a pair."""


@dataclass(frozen=True, slots=True)
class ModelJudgeKind:
    """Declaration of a judge that calls a model."""

    name: str
    title: str
    description: str
    source: str
    needs: tuple[Need, ...]
    takes: tuple[str, ...]
    scale: tuple[GradeMeaning, ...]
    build: Callable[[JudgeOptions], ModelJudge]
    template: Template | None = None
    places: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()


def again(question: Question, outcome: Outcome) -> Question | None:
    """Return the retry of a question whose answer was unreadable or truncated; None for other outcomes.

    Examples
    --------
    >>> asked = Question("k", "", "Grade this.", most_tokens=100)
    >>> again(asked, Outcome("truncated")).most_tokens, again(asked, Outcome("graded", 1)) is None
    (400, True)
    """
    if outcome.name == "truncated":
        return replace(question, key=_key(question.key, "longer"), most_tokens=question.most_tokens * LONGER)
    if outcome.name == "unparseable":
        return replace(question, key=_key(question.key, "repair"), prompt=question.prompt + REPAIR)
    return None


def _key(key: str, why: str) -> str:
    return hashlib.sha256(f"{key} {why}".encode()).hexdigest()
