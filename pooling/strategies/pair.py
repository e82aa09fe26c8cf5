"""What is a pooled pair, and how does a strategy declare itself?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.core.run import Run


@dataclass(frozen=True, slots=True)
class PoolPair:
    """One pair that was chosen for judging, with why it was chosen.

    Parameters
    ----------
    query_id, doc_id : str
        The pair.
    best_rank : int or None
        The best rank, from 1, that a contributing run gives the document; None when no run returns it.
    runs : tuple of (str, int)
        The contributing runs with the rank that each gives the document, by name.
    why : str
        The strategy's name, or ``"residual"``.
    step : int
        The place in the order in which the query's pairs were chosen, from 1.
    probability : float
        The probability with which the pair was drawn: 1 for what a strategy chose, less for the residual stratum.
    """

    query_id: str
    doc_id: str
    best_rank: int | None
    runs: tuple[tuple[str, int], ...]
    why: str
    step: int
    probability: float = 1.0

    def as_json(self) -> dict[str, Any]:
        """The provenance of the pair as plain JSON, for the pair's origin.

        Examples
        --------
        >>> PoolPair("q1", "d1", 1, (("bm25", 1), ("neural", 2)), "depth", 1).as_json()["runs"]
        {'bm25': 1, 'neural': 2}
        """
        return {
            "why": self.why,
            "step": self.step,
            "best_rank": self.best_rank,
            "runs": dict(self.runs),
            "probability": self.probability,
        }


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a strategy, told so that a form, the API and the command line can ask for it.

    Parameters
    ----------
    name, title, description : str
        The key, its readable name, and one line on what it does.
    type : type
        ``int`` or ``float``; ``list`` for pairs.
    default : object
        What is used when nothing is given.
    minimum, maximum : float or None
        The bounds, both inclusive.
    """

    name: str
    title: str
    description: str
    type: type
    default: Any
    minimum: float | None = None
    maximum: float | None = None

    def check(self, value: object) -> Any:
        """The value as the parameter's type.

        Raises
        ------
        NotValid
            When the value is of another type or out of bounds.
        """
        if self.type is list:
            return value
        whole = self.type is float or (isinstance(value, (int, float)) and value == int(value))
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not whole:
            raise self._refusal(value)
        low, high = self.minimum, self.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise self._refusal(value)
        return self.type(value)

    def _refusal(self, value: object) -> NotValid:
        kind = "a whole number" if self.type is int else "a number"
        bounds = [
            text
            for bound, text in ((self.minimum, f"at least {self.minimum}"), (self.maximum, f"at most {self.maximum}"))
            if bound is not None
        ]
        message = f"{self.name} is {value!r}; give {' '.join([kind, ' and '.join(bounds)]).strip()}"
        return NotValid(message, {self.name: message})


Choose = Callable[[Sequence["Run"], Mapping[str, Any], int], list[PoolPair]]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A member of the family: how it is called, what it takes, and the function that chooses.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and one line on what it does and when to take it.
    parameters : tuple of Parameter
        What the function reads from its parameters.
    choose : callable
        ``(runs, params, seed)`` to pairs, grouped by query in byte order and inside a query in the order of choice.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    choose: Choose

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters with defaults filled in.

        Raises
        ------
        NotValid
            For a parameter that the strategy does not have, or a value that it cannot take.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in params:
            if name not in known:
                message = f"strategy {self.name} has no parameter {name!r}; it takes {', '.join(known) or 'none'}"
                raise NotValid(message, {name: message})
        given = {name: value for name, value in params.items() if value is not None}
        return {name: parameter.check(given.get(name, parameter.default)) for name, parameter in known.items()}
