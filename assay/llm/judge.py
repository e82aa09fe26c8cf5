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
    """Input of a judge for one pair."""

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
    """Result of a judge for one context."""

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
    """Declaration of a judge: name, needs, parameters and constructor."""

    name: str
    title: str
    description: str
    source: str
    needs: tuple[Need, ...]
    parameters: tuple[Parameter, ...]
    build: Callable[..., Judge]
    extra: str = ""

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters, with defaults filled in."""
        return checked(f"the judge {self.name}", self.parameters, given)

    def judge(self, given: Mapping[str, Any]) -> Judge:
        """Return a judge with these parameters."""
        return self.build(**self.checked(given))


def _filled(value: str | tuple[str, ...]) -> bool:
    return bool(value.strip()) if isinstance(value, str) else any(part.strip() for part in value)
