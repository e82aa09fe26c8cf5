"""Battles of a query as a list of edges between documents, with the second document's share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.formats.battles_jsonl import Battle

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Battles:
    """Outcomes between the documents of a query, as a list of edges."""

    documents: int
    first: Ints
    second: Ints
    share: Floats
    weight: Floats

    def __post_init__(self) -> None:
        sizes = {len(self.first), len(self.second), len(self.share), len(self.weight)}
        if len(sizes) > 1:
            raise NotValid(
                f"first, second, share and weight have {sorted(sizes)} values; each battle needs one of each"
            )
        places = np.concatenate([self.first, self.second])
        if len(places) and (places.min() < 0 or places.max() >= self.documents):
            raise NotValid(
                f"a battle refers to document {places.max()}, but there are only {self.documents}, counted from 0"
            )
        if (self.first == self.second).any():
            raise NotValid("a document is compared with itself; a battle needs two documents")
        if not ((self.share >= 0) & (self.share <= 1)).all():
            raise NotValid("the share of an outcome must be between 0 and 1")
        if not (self.weight > 0).all() or not np.isfinite(self.weight).all():
            raise NotValid("the weight of a battle must be finite and above 0")

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def of(
        cls, documents: int, rows: Iterable[tuple[int, int, float]], weights: Sequence[float] | None = None
    ) -> Battles:
        """Build the edges from (first, second, share of the second) rows, of weight 1 by default.

        Examples
        --------
        >>> len(Battles.of(3, [(0, 1, 2 / 3), (1, 2, 1 / 3)]))
        2
        """
        listed = list(rows)
        return cls(
            documents,
            np.array([row[0] for row in listed], dtype=np.int64),
            np.array([row[1] for row in listed], dtype=np.int64),
            np.array([row[2] for row in listed], dtype=np.float64),
            np.ones(len(listed)) if weights is None else np.asarray(weights, dtype=np.float64),
        )


def share_of_scores(scores: Sequence[float]) -> float | None:
    """Return the second document's share from scores between -1 (first) and 1 (second) of several models.

    Examples
    --------
    >>> share_of_scores([1.0, 0.0, -0.5]), share_of_scores([7.0]), share_of_scores([])
    (0.5833333333333334, 1.0, None)
    """
    if not len(scores):
        return None
    return float((np.clip(np.asarray(scores, dtype=np.float64), -1, 1).mean() + 1) / 2)


def share_of_votes(scores: Sequence[float]) -> float | None:
    """Return the second document's share by sign, as in zbench: 0 and below are votes for the first document.

    Examples
    --------
    >>> share_of_votes([0.9, 0.0, -0.1])
    0.3333333333333333
    """
    if not len(scores):
        return None
    return float((np.asarray(scores, dtype=np.float64) > 0).mean())


@dataclass(frozen=True)
class FirstPlace:
    """How often the first position decided."""

    answers: int
    won: int
    both: int
    turned: int

    @property
    def share(self) -> float | None:
        """Return the share won by the first position: one half without position bias, None without answers."""
        return self.won / self.answers if self.answers else None


def first_place(battles: Iterable[Battle]) -> FirstPlace:
    """Count the wins of the first position over answers as shown.

    Examples
    --------
    >>> found = first_place([Battle("q", "a", "b", -1.0), Battle("q", "a", "b", 0.5, swapped=True)])
    >>> found.share, found.both, found.turned
    (1.0, 1, 1)
    """
    shown: dict[tuple[str, ...], dict[bool, bool]] = {}
    answers = won = 0
    for row in battles:
        if not row.score:
            continue
        # The score in the file is as if a had been shown first.
        first = (row.score < 0) != row.swapped
        answers, won = answers + 1, won + first
        a_first = (row.a < row.b) != row.swapped
        shown.setdefault((row.query_id, *sorted((row.a, row.b)), row.model), {})[a_first] = first
    twice = [orders for orders in shown.values() if len(orders) == 2]
    return FirstPlace(answers, won, len(twice), sum(orders[True] == orders[False] for orders in twice))
