"""Probabilities of the grades at the token where a model wrote its grade."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice

from assay.llm.model_reply import GRADE_KEY

# The key outside strings; within a string its quotation marks are escaped.
_GRADE = re.compile(rf'"{GRADE_KEY}"\s*:\s*(-?\d+)')

# No provider reports more alternatives per token; additional ones are ignored.
MOST_ALTERNATIVES = 64


def of_grade(tokens: Sequence[tuple[str, Mapping[str, float]]]) -> dict[str, float] | None:
    """Return the probabilities of the numbers at the token of the grade.

    Examples
    --------
    >>> of_grade([('{"why": "for ', {}), ("3", {}), ('", "grade', {}), ('":', {}), (" 2}", {" 2}": 0.0})])
    {'2': 1.0}
    """
    ends = list(accumulate(len(token) for token, _ in tokens))
    text = "".join(token for token, _ in tokens)
    match = next(reversed(list(_GRADE.finditer(text))), None)
    if match is None:
        return None
    at = next(place for place, end in enumerate(ends) if end > match.start(1))
    if match.end(1) > ends[at]:
        return None
    begin = ends[at] - len(tokens[at][0])
    by_grade: dict[str, float] = {}
    before = text[match.start() : begin]
    for other, logarithm in islice(tokens[at][1].items(), MOST_ALTERNATIVES):
        number = _GRADE.match(before + other)
        if number is not None and number.end(1) > len(before) and not math.isnan(logarithm):
            by_grade[number[1]] = by_grade.get(number[1], 0.0) + math.exp(min(logarithm, 0.0))
    return by_grade or None
