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
    """Prompt settings of a judge that calls a model.

    Parameters
    ----------
    scale : sequence of GradeMeaning
        The grades, ascending; empty for judges with their own scale.
    guidelines : str
        The guidelines of the human raters.
    examples : sequence of Example
        Pairs that people graded, none of which is to be judged.
    relevant_from : int, optional
        The lowest grade that is relevant.
    most_tokens : int, optional
        Maximum tokens per answer; the judge's default if None.
    most_characters : int
        Maximum characters per document.
    temperature : float
        0 for the most probable answer.
    seed : int
        Seed, for providers that accept one.
    probabilities : bool
        Whether to request the grade probabilities.
    text_metric : TextMetric, optional
        The metric that scores an answer against the accepted answers, for the judge `downstream`.
    template : Template, optional
        The prompt template; the judge's own if None.
    """

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
    """Declaration of a judge that calls a model.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and a line about its purpose and use.
    source : str
        Source of the rule.
    needs : tuple of str
        The parts of a context without which it cannot judge.
    takes : tuple of str
        The fields of `JudgeOptions` that change its prompt, in addition to those of every judge.
    scale : tuple of GradeMeaning
        The default scale.
    build : callable
        ``build(options) -> ModelJudge``.
    template : Template, optional
        Its default template; None if it cannot be replaced.
    places, needed : tuple of str
        The placeholders of its template, and those that are required.
    """

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
