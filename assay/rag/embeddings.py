"""Embeddings of texts and the cosine of two vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid

Floats = npt.NDArray[np.float64]
EmbedFn = Callable[[list[str]], Any]


def vectors_of(texts: Sequence[str], embed_fn: EmbedFn, owner: str) -> Floats:
    """Embed each distinct text once."""
    place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    if not place:
        return np.zeros((0, 0))
    try:
        vectors = embed_fn(list(place))
    except NotValid:
        raise
    except Exception as error:
        raise NotValid(f"{owner}: embed_fn raised {type(error).__name__}: {str(error)[:300]}") from error
    return as_matrix(vectors, len(place), f"{owner}: embed_fn")[[place[text] for text in texts]]


def as_matrix(vectors: Any, number: int, owner: str) -> Floats:
    """Return vectors as an array; raise an error if they differ in length or contain values other than finite
    numbers."""
    try:
        rows = list(vectors)
        sizes = {len(row) for row in rows}
    except TypeError:
        raise NotValid(f"{owner} has a vector that is not a list of numbers") from None
    if len(rows) != number:
        raise NotValid(f"{owner} returned {len(rows):,} vectors for {number:,} texts")
    if len(sizes) > 1:
        raise NotValid(
            f"{owner} has vectors of {' and '.join(map(str, sorted(sizes)[:2]))} numbers; all vectors must have the "
            "same length"
        )
    try:
        matrix = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        raise NotValid(f"{owner} has a vector that is not a list of numbers") from None
    if matrix.ndim != 2:
        raise NotValid(f"{owner} has a vector that is not a list of numbers")
    if not np.isfinite(matrix).all():
        raise NotValid(f"{owner} has a vector with a number that is not finite")
    return matrix


def cosines(first: Floats, second: Floats) -> Floats:
    """Compute the cosine of each row with the row next to it; NaN if a row has length zero."""
    known = first.any(axis=1) & second.any(axis=1)
    result: Floats = np.where(known, np.einsum("ij,ij->i", directions(first), directions(second)), np.nan)
    return np.clip(result, -1, 1)


def directions(vectors: Floats) -> Floats:
    """Return each row normalized to length 1; a row of zeros is unchanged.

    Examples
    --------
    >>> directions(np.array([[3e200, 4e200], [0, 0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    # The squares of very large or very small numbers do not fit into a float.
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = vectors / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    result: Floats = scaled / np.where(lengths > 0, lengths, 1)
    return result
