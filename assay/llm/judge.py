"""Contract of machine judges: their input, their parameters and their typed outcomes.

A judge that fails reports the type of failure. It never makes up a grade, and keeps no state between calls: the same
context with the same parameters always gets the same judgment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from assay.core.outcomes import OUTCOMES, OutcomeName
from assay.core.parameters import Parameter, checked

Need = Literal["query", "narrative", "text", "expected", "other"]


@dataclass(frozen=True, slots=True)
class Context:
    """Input of a judge for one pair.

    Parameters
    ----------
    query : str
        What was typed.
    text : str
        The text of the document.
    expected : tuple of str
        The accepted answers, for judges that match a text with an expected answer.
    narrative : str
        The need behind the query.
    other : str
        The text of the second document, for judges that compare two.
    """

    query: str
    text: str
    expected: tuple[str, ...] = ()
    narrative: str = ""
    other: str = ""

    def lacks(self, needs: Sequence[Need]) -> list[Need]:
        """Return the needed parts that are missing.

        Examples
        --------
        >>> Context("rain jacket", "A coat.").lacks(("text", "expected"))
        ['expected']
        """
        return [need for need in needs if not _filled(getattr(self, need))]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a judge for one context.

    Parameters
    ----------
    name : str
        One of `OUTCOMES`.
    grade : int or None
        The grade; if `name` is ``graded``, exactly one of grade, usefulness and preference is set.
    relevant : bool or None
        Yes or no, if `name` is ``graded`` and the judge gives it.
    probabilities : mapping of str to float, optional
        Grade to probability, from judges that report it.
    rationale, raw : str
        The reason, and the answer as received, before parsing.
    tokens_in, tokens_out : int or None
        Tokens that a model read and wrote; None for a judge without a model.
    cost_usd : float or None
        Cost; None if unknown.
    usefulness : float or None
        How well a system answered with the document, from 0 to 1; not a grade of relevance.
    preference : float or None
        Which of two documents is better, from -1 (the first) to 1 (the second).

    Raises
    ------
    ValueError
        When a failure has a grade, or a grade is missing, which is a bug in the judge.
    """

    name: OutcomeName
    grade: int | None = None
    relevant: bool | None = None
    probabilities: Mapping[str, float] | None = None
    rationale: str = ""
    raw: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    usefulness: float | None = None
    preference: float | None = None

    def __post_init__(self) -> None:
        if self.name not in OUTCOMES:
            raise ValueError(f"unknown outcome {self.name!r}; known: {', '.join(OUTCOMES)}")
        graded = self.name == "graded"
        answers = sum(one is not None for one in (self.grade, self.usefulness, self.preference))
        if answers != graded or (self.relevant is not None and not graded):
            raise ValueError(f"the outcome {self.name} cannot have the grade {self.grade} and relevant {self.relevant}")

    def on_scale(self, values: Sequence[int]) -> Outcome:
        """Return the outcome on a scale; a grade off the scale is never rounded or clipped.

        Examples
        --------
        >>> Outcome("graded", grade=5).on_scale((0, 1, 2, 3)).name
        'out_of_scale'
        """
        if self.grade is None or self.grade in values:
            return self
        raw = self.raw or f"grade {self.grade}"
        return replace(self, name="out_of_scale", grade=None, relevant=None, probabilities=None, raw=raw)


class Judge(Protocol):
    """A judge with its parameters."""

    def outcomes(self, contexts: Sequence[Context]) -> list[Outcome]:
        """Return one outcome for each context, in order."""


@dataclass(frozen=True, slots=True)
class JudgeKind:
    """Declaration of a judge: name, needs, parameters and constructor.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and a line about its purpose and use.
    source : str
        Source of the rule.
    needs : tuple of str
        The parts of a context without which it cannot judge.
    parameters : tuple of Parameter
        Its parameters.
    build : callable
        ``build(**parameters) -> Judge``.
    extra : str
        The extra with its dependencies, ``pip install 'assay[EXTRA]'``; empty for none.
    """

    name: str
    title: str
    description: str
    source: str
    needs: tuple[Need, ...]
    parameters: tuple[Parameter, ...]
    build: Callable[..., Judge]
    extra: str = ""

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters, with defaults filled in.

        Raises
        ------
        NotValid
            For an unknown parameter, or a value that is not valid.
        """
        return checked(f"the judge {self.name}", self.parameters, given)

    def judge(self, given: Mapping[str, Any]) -> Judge:
        """Return a judge with these parameters.

        Raises
        ------
        NotValid
            As `checked`.
        """
        return self.build(**self.checked(given))


def _filled(value: str | tuple[str, ...]) -> bool:
    return bool(value.strip()) if isinstance(value, str) else any(part.strip() for part in value)
