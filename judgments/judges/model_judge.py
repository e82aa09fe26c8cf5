"""Base classes of judges that call a model, and the settings of their prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from judgments.judges.answers import Reply
from judgments.judges.contract import Context, Need, Outcome
from judgments.judges.graded import Example, GradeMeaning
from judgments.judges.templates import LONGEST_DOCUMENT, Template
from judgments.providers.protocol import Question

if TYPE_CHECKING:
    from judgments.textmetrics import TextMetric

# What is asked once more; anything else would be answered alike.
ASKED_AGAIN = frozenset({"unparseable", "truncated"})
LONGER = 4
REPAIR = (
    "\n\nAn earlier answer to this question could not be read. Answer again, in exactly the form that is asked for "
    "above, and write nothing else."
)


@dataclass(frozen=True)
class Told:
    """What a judge's model is told beside the pair, and how it is asked.

    Parameters
    ----------
    scale : sequence of GradeMeaning
        The grades, ascending; empty for judges that have their own.
    guidelines : str
        What people were told.
    examples : sequence of Example
        Pairs that people graded; never the pairs under judgment.
    relevant_from : int, optional
        The lowest grade that is relevant.
    most_tokens : int, optional
        Of an answer; the judge's own number where None.
    most_characters : int
        Of a document.
    temperature : float
        0 for the most probable answer.
    seed : int
        For providers that take one.
    probabilities : bool
        Whether the probabilities of the grades are asked for.
    text_metric : TextMetric, optional
        What scores an answer against the accepted ones, for the judge `downstream`.
    template : Template, optional
        In whose words; the judge's own where None.
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
    """A judge that asks a model one question or more about a pair."""

    def provenance(self) -> Mapping[str, Any]:
        """All that decides what is asked and how it is read, apart from the model and the pair."""

    def questions(self, context: Context) -> list[Question]:
        """What is asked about one pair; equal questions have equal keys."""

    def read_one(self, context: Context, reply: Reply) -> Outcome:
        """What one reply says."""

    def together(self, found: Sequence[Outcome]) -> Outcome:
        """What the replies to all questions of a pair say together."""


@dataclass(frozen=True, slots=True)
class ModelJudgeKind:
    """A member of the family of judges that ask a model.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and one line on what it does and when to take it.
    source : str
        Where the rule comes from.
    needs : tuple of str
        The parts of a context without which it cannot judge.
    takes : tuple of str
        Which fields of `Told` change what it asks, beside those that every judge takes.
    scale : tuple of GradeMeaning
        The scale where none is given.
    build : callable
        ``build(told) -> ModelJudge``.
    template : Template, optional
        Its own words; None where it takes no others.
    places, needed : tuple of str
        What stands in braces in its words, and what of it must stand there.
    """

    name: str
    title: str
    description: str
    source: str
    needs: tuple[Need, ...]
    takes: tuple[str, ...]
    scale: tuple[GradeMeaning, ...]
    build: Callable[[Told], ModelJudge]
    template: Template | None = None
    places: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()


def again(question: Question, outcome: Outcome) -> Question | None:
    """The question that is asked once more, where an answer could not be read or was cut off.

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
