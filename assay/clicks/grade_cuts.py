"""Cuts that turn labels into grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.clicks.click_model import Floats, Ints

MOST_CUTS = 20
DIGITS = 4


def parse_cuts(text: str) -> tuple[float, ...]:
    """Parse cuts from a text, lowest first.

    Examples
    --------
    >>> parse_cuts("0.5, 1, 2")
    (0.5, 1.0, 2.0)
    """
    try:
        cuts = [float(part) for part in text.replace(";", ",").split(",") if part.strip()]
    except ValueError:
        raise _wrong(f"The cuts are {text[:100]!r}") from None
    return checked_cuts(cuts)


def checked_cuts(cuts: Sequence[float]) -> tuple[float, ...]:
    """Return the cuts."""
    if len(cuts) > MOST_CUTS or not all(math.isfinite(cut) for cut in cuts):
        raise _wrong(f"The cuts are {', '.join(f'{cut:g}' for cut in cuts[:MOST_CUTS])}")
    if any(low >= high for low, high in pairwise(cuts)):
        raise _wrong("The cuts are not in ascending order")
    return tuple(float(cut) for cut in cuts)


def grades_of(values: Floats, cuts: Sequence[float]) -> Ints:
    """Return the grade of each label: the number of cuts that it reaches.

    Examples
    --------
    >>> grades_of(np.array([0.2, 0.5, 3.0]), (0.5, 1.0, 2.0)).tolist()
    [0, 1, 3]
    """
    return np.searchsorted(np.array(cuts, dtype=np.float64), values, side="right").astype(np.int64)


def fitted_cuts(values: Floats, grades: Ints, scale: Sequence[int]) -> tuple[float, ...]:
    """Return cuts that reproduce the distribution of human grades of the same pairs, if such cuts exist.

    Examples
    --------
    >>> fitted_cuts(np.array([0.1, 0.4, 1.0, 3.0]), np.array([0, 0, 1, 2]), (0, 1, 2))
    (0.7, 2.0)
    """
    ordered = np.sort(values)
    cuts = []
    for grade in scale[1:]:
        below = int((grades < grade).sum())
        if not 0 < below < len(ordered):
            return ()
        cuts.append(round(float(ordered[below - 1] + ordered[below]) / 2, DIGITS))
    rising = all(low < high for low, high in pairwise(cuts))
    return tuple(cuts) if rising else ()


def _wrong(what: str) -> NotValid:
    message = f"{what}. List the lowest label of each grade above the first in ascending order, such as 0.5, 1, 2."
    return NotValid(message, "cuts")
