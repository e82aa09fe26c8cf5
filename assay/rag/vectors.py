"""Embeddings of texts and the cosine of two vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judgments.core.errors import NotValid

Floats = npt.NDArray[np.float64]
EmbedFn = Callable[[list[str]], Any]


def vectors_of(texts: Sequence[str], embed_fn: EmbedFn, owner: str) -> Floats:
    """Embed each different text once.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    embed_fn : callable
        ``embed_fn(list of str) -> vectors``, one for each text and all of the same length.
    owner : str
        What messages call the metric.

    Returns
    -------
    float64 array, shape (texts, dimensions)
        In the order of the texts.

    Raises
    ------
    NotValid
        When the function fails, or its vectors cannot be used.
    """
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
    """Return vectors as an array; raise an error when they differ in length or hold anything but finite numbers."""
    try:
        rows = list(vectors)
        sizes = {len(row) for row in rows}
    except TypeError:
        raise NotValid(f"{owner} has a vector that is not a list of numbers") from None
    if len(rows) != number:
        raise NotValid(f"{owner} returned {len(rows):,} vectors for {number:,} texts")
    if len(sizes) > 1:
        raise NotValid(f"{owner} has vectors of {' and '.join(map(str, sorted(sizes)[:2]))} numbers; give one length")
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
    """Compute the cosine of each row with the row beside it; NaN where one has length zero."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = np.clip(np.einsum("ij,ij->i", first, second) / np.where(lengths > 0, lengths, np.nan), -1, 1)
    return result
