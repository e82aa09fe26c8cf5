"""What goes into a machine judge, and what may come out?

A judge that fails says how it failed. It never makes up a grade, and keeps no state between calls: the same context
and the same parameters are judged alike whatever came before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, get_args

from judgments.core.errors import NotValid

OutcomeName = Literal["graded", "unparseable", "out_of_scale", "refused", "truncated", "blocked", "transport_error"]
OUTCOMES: tuple[OutcomeName, ...] = get_args(OutcomeName)

Need = Literal["query", "narrative", "text", "expected"]


@dataclass(frozen=True, slots=True)
class Context:
    """What a judge is told about one pair.

    Parameters
    ----------
    query : str
        What was typed.
    text : str
        The text of the document.
    expected : tuple of str
        The answers that are accepted, for judges that match a text to an expected answer.
    narrative : str
        The need behind the query.
    """

    query: str
    text: str
    expected: tuple[str, ...] = ()
    narrative: str = ""

    def lacks(self, needs: Sequence[Need]) -> list[Need]:
        """Return what is needed and not there.

        Examples
        --------
        >>> Context("rain jacket", "A coat.").lacks(("text", "expected"))
        ['expected']
        """
        return [need for need in needs if not _filled(getattr(self, need))]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a judge answered for one context.

    Parameters
    ----------
    name : str
        One of `OUTCOMES`.
    grade : int or None
        The grade, exactly where `name` is ``graded``.
    relevant : bool or None
        Yes or no, where `name` is ``graded`` and the judge says so.
    probabilities : mapping of str to float, optional
        Grade to probability, from judges that know it.
    rationale, raw : str
        Why, in words; and the answer as it came, before it was read.
    tokens_in, tokens_out : int or None
        What a model read and wrote; None for a judge without a model.
    cost_usd : float or None
        What it cost; None where nobody knows.

    Raises
    ------
    ValueError
        When a failure carries a grade, or a grade is missing: a judge with such an answer has a bug.
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

    def __post_init__(self) -> None:
        if self.name not in OUTCOMES:
            raise ValueError(f"{self.name!r} is no outcome; known: {', '.join(OUTCOMES)}")
        graded = self.name == "graded"
        if (self.grade is not None) != graded or (self.relevant is not None and not graded):
            raise ValueError(f"the outcome {self.name} goes with grade {self.grade} and relevant {self.relevant}")

    def on_scale(self, values: Sequence[int]) -> Outcome:
        """Return the outcome as it stands on a scale: a grade that is not on it is never rounded or clipped.

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
    """A judge whose parameters are chosen."""

    def outcomes(self, contexts: Sequence[Context]) -> list[Outcome]:
        """Answer a batch: one outcome for each context, in the same order."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a judge, told so that a form, the API and the command can ask for it.

    Parameters
    ----------
    name, description : str
        The key, and one sentence on what it does.
    default : int, float or bool
        Its value where nothing is given; its type is the parameter's type.
    minimum, maximum : float or None
        The bounds, both inclusive.
    """

    name: str
    description: str
    default: int | float | bool
    minimum: float | None = None
    maximum: float | None = None

    def check(self, value: object) -> int | float | bool:
        """Return the value as the parameter's type.

        Raises
        ------
        NotValid
            When it is of another type or out of bounds.
        """
        if isinstance(self.default, bool) or isinstance(value, bool) or not isinstance(value, int | float):
            if isinstance(self.default, bool) and isinstance(value, bool):
                return value
            raise self._refusal(value)
        if not self._within(value) or (isinstance(self.default, int) and value != int(value)):
            raise self._refusal(value)
        return type(self.default)(value)

    def _within(self, value: float) -> bool:
        low = self.minimum is None or value >= self.minimum
        return low and (self.maximum is None or value <= self.maximum)

    def _refusal(self, value: object) -> NotValid:
        kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(self.default)]
        ends = [f"at least {self.minimum:g}" if self.minimum is not None else ""]
        ends.append(f"at most {self.maximum:g}" if self.maximum is not None else "")
        bounds = " and ".join(end for end in ends if end)
        message = f"{self.name} is {value!r}; give {kind}{', ' if bounds else ''}{bounds}"
        return NotValid(message, {self.name: message})


@dataclass(frozen=True, slots=True)
class JudgeKind:
    """A member of the family: how a judge is called, what it needs, and how it is made.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and one line on what it does and when to take it.
    source : str
        Where the rule comes from.
    needs : tuple of str
        The parts of a context without which it cannot judge.
    parameters : tuple of Parameter
        What it takes.
    build : callable
        ``build(**parameters) -> Judge``.
    """

    name: str
    title: str
    description: str
    source: str
    needs: tuple[Need, ...]
    parameters: tuple[Parameter, ...]
    build: Callable[..., Judge]

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters, the defaults filled in.

        Raises
        ------
        NotValid
            For a parameter that the judge does not have, or a value that it cannot take.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                message = f"the judge {self.name} has no parameter {name!r}; it takes {', '.join(known) or 'none'}"
                raise NotValid(message, {name: message})
        return {name: one.check(given.get(name, one.default)) for name, one in known.items()}

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
