"""Declared parameters of a family's members: types, limits, defaults and validation.

Judges and pool strategies declare their parameters; forms, the API and the command line are built from the
declarations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import NotValid

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a member."""

    name: str
    title: str
    description: str
    default: int | float | bool | str | tuple[()]
    minimum: float | None = None
    maximum: float | None = None

    @property
    def type(self) -> type:
        """Return the type of the values."""
        return type(self.default)

    @property
    def is_list(self) -> bool:
        """Return whether the parameter takes a list; such a parameter has no form field or option."""
        return self.type is tuple

    def check(self, value: object) -> Any:
        """Return the value as the parameter's type.

        Examples
        --------
        >>> Parameter("depth", "Depth", "How deep.", 10, minimum=1).check(5.0)
        5
        """
        if self.is_list or (self.type is bool and isinstance(value, bool)):
            return value
        if self.type is str:
            if not isinstance(value, str):
                raise self._refusal(value)
            return value
        if self.type is bool or isinstance(value, bool) or not isinstance(value, int | float):
            raise self._refusal(value)
        # Larger values would overflow numpy's integers.
        if isinstance(value, int) and abs(value) > LARGEST:
            raise self._refusal(value)
        if (
            not math.isfinite(value)
            or not self._within(value)
            or (self.type is int and (value != int(value) or abs(value) > LARGEST))
        ):
            raise self._refusal(value)
        return self.type(value)

    def _within(self, value: float) -> bool:
        low = self.minimum is None or value >= self.minimum
        return low and (self.maximum is None or value <= self.maximum)

    def _refusal(self, value: object) -> NotValid:
        ends = [f"at least {self.minimum:g}" if self.minimum is not None else ""]
        ends.append(f"at most {self.maximum:g}" if self.maximum is not None else "")
        if self.maximum is None and isinstance(value, int | float) and abs(value) > LARGEST:
            ends.append(f"at most {LARGEST:,}")
        bounds = " and ".join(end for end in ends if end)
        message = f"{self.name} is {value!r}; use {_KINDS[self.type]}{', ' if bounds else ''}{bounds}"
        return NotValid(message, self.name)


def checked(owner: str, parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters, with defaults filled in if nothing or None is given.

    Examples
    --------
    >>> checked("the strategy depth", (Parameter("depth", "Depth", "How deep.", 10, minimum=1),), {})
    {'depth': 10}
    """
    known = {parameter.name: parameter for parameter in parameters}
    if strange := next((name for name in given if name not in known), None):
        raise NotValid(f"{owner} has no parameter {strange!r}; parameters: {', '.join(known) or 'none'}", strange)
    values = {name: value for name, value in given.items() if value is not None}
    return {name: one.check(values.get(name, one.default)) for name, one in known.items()}
