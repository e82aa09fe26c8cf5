"""Data classes of label rules: the grades they take, the labels they return, and a rule's declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.ratings import Ratings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Votes:
    """The grades of each unit, counted."""

    ratings: Ratings
    codes: Ints
    counts: Ints
    values: Floats


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Grades that a rule assigns to the units."""

    grades: Floats
    ties: Flags


@dataclass(frozen=True)
class Rule:
    """Declaration of a label rule."""

    name: str
    title: str
    description: str
    formula: str
    settle: Callable[[Votes], Verdicts]


@dataclass(frozen=True, slots=True)
class Label:
    """The label of a pair.

    Parameters
    ----------
    query_id, doc_id : str
        The pair.
    grade : float or None
        None if the rule leaves the pair to a lead.
    ratings : int
        How many raters graded the pair.
    spread : float
        Highest minus lowest grade given; above 0 the pair is a conflict.
    tie : bool
        Whether two grades were tied under the rule.
    """

    query_id: str
    doc_id: str
    grade: float | None
    ratings: int
    spread: float
    tie: bool


@dataclass(frozen=True)
class Labels:
    """The labels of a set of ratings under one rule, in the order of ids by bytes."""

    rule: str
    values: tuple[float, ...]
    labels: tuple[Label, ...]

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """Yield (query_id, doc_id, grade) of the labeled pairs, as `Qrels.from_rows` accepts them."""
        return ((one.query_id, one.doc_id, one.grade) for one in self.labels if one.grade is not None)

    def conflicts(self, spread: float = 1) -> tuple[Label, ...]:
        """Return the pairs whose grades differ by at least this much."""
        return tuple(one for one in self.labels if one.spread >= spread)

    def ties(self) -> tuple[Label, ...]:
        """Return the pairs with tied grades."""
        return tuple(one for one in self.labels if one.tie)

    def unsettled(self) -> tuple[Label, ...]:
        """Return the pairs without a grade, which a lead must resolve."""
        return tuple(one for one in self.labels if one.grade is None)
