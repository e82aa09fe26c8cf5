"""Probabilities of the grades at the token where a model wrote its grade."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice

from judgments.judges.answers import GRADE_KEY

# The key as it stands outside of texts: within one its quotation marks are escaped.
_GRADE = re.compile(rf'"{GRADE_KEY}"\s*:\s*(-?\d+)')

# No provider tells more for one token; a server that does costs no more for it.
MOST_TOLD = 64


def of_grade(tokens: Sequence[tuple[str, Mapping[str, float]]]) -> dict[str, float] | None:
    """The probabilities of the numbers that could have stood where the grade stands.

    Parameters
    ----------
    tokens : sequence of (str, mapping of str to float)
        Each token as written, with the logarithms of the probabilities of what could have stood there, itself among it.

    Returns
    -------
    dict of str to float, or None
        By number; several spellings of one number are one. None where no token holds the whole number under the last
        key ``grade``: digits of a reason are no grade, and half a number is none.

    Examples
    --------
    >>> of_grade([('{"why": "for ', {}), ("3", {}), ('", "grade', {}), ('":', {}), (" 2}", {" 2}": 0.0})])
    {'2': 1.0}
    """
    ends = list(accumulate(len(token) for token, _ in tokens))
    text = "".join(token for token, _ in tokens)
    found = next(reversed(list(_GRADE.finditer(text))), None)
    if found is None:
        return None
    at = next(place for place, end in enumerate(ends) if end > found.start(1))
    if found.end(1) > ends[at]:
        return None
    begin = ends[at] - len(tokens[at][0])
    told: dict[str, float] = {}
    before = text[found.start() : begin]
    for other, logarithm in islice(tokens[at][1].items(), MOST_TOLD):
        number = _GRADE.match(before + other)
        if number is not None and number.end(1) > len(before) and not math.isnan(logarithm):
            told[number[1]] = told.get(number[1], 0.0) + math.exp(min(logarithm, 0.0))
    return told or None
