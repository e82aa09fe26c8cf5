"""Parse counts and shares in table cells."""

from __future__ import annotations

import re

from assay.formats.grade_cells import RowFault
from assay.formats.trec_fields import number

_COUNT = re.compile(r"\d{1,15}(\.0+)?", re.ASCII)


def count(text: str, column: str, *, least: int = 0) -> int | None:
    """Return a whole number that is not negative, None for an empty cell.

    Examples
    --------
    >>> count("12", "clients"), count("", "clients")
    (12, None)
    """
    text = text.strip()
    if not text:
        return None
    if _COUNT.fullmatch(text) and (value := int(text.partition(".")[0])) >= least:
        return value
    fix = f"expected a number such as {least + 12}"
    raise RowFault("E12", f"the {column} {text!r} is not a whole number from {least}", fix)


def share(text: str, column: str, *, most: float | None = None) -> float | None:
    """Return a number from 0 to ``most``, None for an empty cell.

    Examples
    --------
    >>> share("0.25", "probability", most=1.0), share("", "weight")
    (0.25, None)
    """
    text = text.strip()
    if not text:
        return None
    value = number(text)
    if value is None or value < 0 or value == float("inf") or (most is not None and value > most):
        limit = f" from 0 to {most:g}" if most is not None else " from 0"
        raise RowFault("E12", f"the {column} {text!r} is not a number{limit}", "expected a number such as 0.25")
    return value
