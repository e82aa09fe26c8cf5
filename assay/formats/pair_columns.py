"""Columns of a well-formed file of pairs, with checks for ids and numbers that need the slower reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.text_column import Places, Texts
from assay.core.text_rules import MAX_LENGTH, id_fault, is_unusual
from assay.formats.reader import NeedsCare


@dataclass(frozen=True, slots=True)
class PairColumns:
    """Pairs with one number each, in the order of the file."""

    query_ids: Texts
    doc_ids: Texts
    values: npt.NDArray[np.float64]
    ranks: npt.NDArray[np.float64] | None = None
    lines: Places | None = None


def refuse_odd_ids(ids: Sequence[str]) -> None:
    """Check ids as `id_fault` and `is_unusual` do, all at once if possible.

    Examples
    --------
    >>> refuse_odd_ids(["q1", "Jacke grün"])
    >>> refuse_odd_ids(["q1", ""])
    Traceback (most recent call last):
        ...
    assay.formats.reader.NeedsCare
    """
    if not all(ids) or max(map(len, ids), default=0) > MAX_LENGTH:
        raise NeedsCare
    joined = "".join(ids)
    if joined.isascii() and joined.isprintable():
        return
    if any(id_fault(text) or is_unusual(text) for text in set(ids)):
        raise NeedsCare


def real_numbers(values: Sequence[object]) -> npt.NDArray[np.float64]:
    """Return finite numbers as float64.

    Examples
    --------
    >>> real_numbers([1, 2.5]).tolist()
    [1.0, 2.5]
    """
    if not set(map(type, values)) <= {int, float}:
        raise NeedsCare
    try:
        array = np.array(values, dtype=np.float64)
    except OverflowError:
        raise NeedsCare from None
    if not np.isfinite(array).all():
        raise NeedsCare
    return array
