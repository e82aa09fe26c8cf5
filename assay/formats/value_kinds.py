"""Names of the kinds of values for messages, without the names of Python types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def value_kind(value: Any) -> str:
    """Return the kind of a value, to follow "is" in a message.

    Examples
    --------
    >>> [value_kind(value) for value in (None, 3, True, "a", [1], {})]
    ['null', 'a number', 'true', 'text', 'a list', 'an object']
    """
    if hasattr(value, "tolist"):  # NumPy scalars and arrays, as data frames hold them.
        value = value.tolist()
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "a number"
    for kinds, name in ((str, "text"), (Mapping, "an object"), (list | tuple, "a list"), (bytes, "binary data")):
        if isinstance(value, kinds):
            return name
    return f"an object of the Python class {type(value).__name__}"
