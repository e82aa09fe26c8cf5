"""Corrections of p-values for multiple comparisons: Holm, Bonferroni and Benjamini-Hochberg."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from assay.significance import CORRECTIONS


@dataclass(frozen=True)
class Correction:
    """A correction for multiple comparisons.

    Parameters
    ----------
    name, title, description, source : str
        The name that users type, its readable form, the error that it controls, and its source.
    adjust : callable
        ``adjust(ascending) -> list`` of the same length, before values above 1 are set to 1.
    """

    name: str
    title: str
    description: str
    source: str
    adjust: Callable[[Sequence[float]], list[float]]


def corrected(values: Sequence[float | None], correction: str) -> list[float | None]:
    """Correct the p-values of a family of comparisons.

    Parameters
    ----------
    values : sequence of float or None
        The p-values of all comparisons of a metric. None means undefined: it stays None and is not in the family.
    correction : str
        A member of ``assay.significance.CORRECTIONS``.

    Returns
    -------
    list of float or None
        Corrected p-values in the given order, at most 1.

    Examples
    --------
    >>> corrected([0.01, None, 0.04, 0.03], "holm")
    [0.03, None, 0.06, 0.06]
    >>> corrected([0.01, 0.04, 0.03], "bonferroni")
    [0.03, 0.12, 0.09]
    >>> corrected([0.01, 0.02, 0.09], "bh")
    [0.03, 0.03, 0.09]
    """
    defined = {at: value for at, value in enumerate(values) if value is not None}
    order = sorted(defined, key=lambda at: defined[at])
    adjusted: list[float | None] = [None] * len(values)
    for at, value in zip(order, CORRECTIONS[correction].adjust([defined[at] for at in order]), strict=True):
        adjusted[at] = min(1.0, value)
    return adjusted


def _holm(ascending: Sequence[float]) -> list[float]:
    size = len(ascending)
    return list(accumulate((value * (size - at) for at, value in enumerate(ascending)), max))


def _bonferroni(ascending: Sequence[float]) -> list[float]:
    return [value * len(ascending) for value in ascending]


def _benjamini_hochberg(ascending: Sequence[float]) -> list[float]:
    size = len(ascending)
    falling = (ascending[at] * (size / (at + 1)) for at in reversed(range(size)))
    return list(accumulate(falling, min))[::-1]


HOLM = Correction(
    name="holm",
    title="Holm",
    description="Controls the probability of any false positive; never less powerful than Bonferroni.",
    source="Holm 1979",
    adjust=_holm,
)
BONFERRONI = Correction(
    name="bonferroni",
    title="Bonferroni",
    description="Controls the probability of any false positive with the simplest rule.",
    source="Dunn 1961",
    adjust=_bonferroni,
)
BENJAMINI_HOCHBERG = Correction(
    name="bh",
    title="Benjamini-Hochberg",
    description="Controls the share of false positives among the significant differences.",
    source="Benjamini and Hochberg 1995",
    adjust=_benjamini_hochberg,
)
