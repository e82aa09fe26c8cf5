"""Contract of a strategy: its declaration, input and output.

A strategy receives the candidates with their ranks, the known grade of each, and a seed; it returns the next pairs. A
strategy that learns from judgments is called again when new ones have arrived: its result depends only on the
existing judgments and on no internal state, so that a choice can be repeated from the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.parameters import Parameter, checked
from assay.core.text_column import Places
from assay.strategies.candidates import Candidates, Numbers, Pair

# The state of a candidate. Pending: it is assigned already and has no grade (yet).
UNKNOWN, NOT_RELEVANT, RELEVANT, PENDING = -1, 0, 1, -2


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of queries and documents, for strategies that read them."""

    queries: Mapping[str, str]
    documents: Callable[[Sequence[str]], Sequence[str]]

    @classmethod
    def of(cls, queries: Mapping[str, str], documents: Mapping[str, str]) -> Wording:
        """Return the texts from dictionaries by id."""
        return cls(queries, lambda doc_ids: [documents.get(doc_id, "") for doc_id in doc_ids])


@dataclass(frozen=True, eq=False, slots=True)
class Task:
    """The input of a strategy."""

    candidates: Candidates
    state: npt.NDArray[np.int8]
    seed: int
    size: int | None = None
    wording: Wording | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """The output of a strategy: the next pairs, all of them unknown so far."""

    rows: Places
    why: tuple[str, ...]
    reason_of: npt.NDArray[np.int8]
    passed: int = 0
    over: int = 0


Choose = Callable[[Task, Mapping[str, Any]], Choice]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy: its name, its parameters, and the function that chooses.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and a line about its purpose and use.
    parameters : tuple of Parameter
        The parameters of the function. A parameter ``depth`` limits how far down a run counts.
    choose : callable
        Takes a task and the parameters, and returns a choice.
    adaptive : bool
        Whether judgments affect the next choice.
    reads : bool
        Whether it needs the texts of queries and documents.
    given : callable, optional
        Returns the pairs in the parameters, for a strategy that needs no runs.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    choose: Choose
    adaptive: bool = False
    reads: bool = False
    given: Callable[[Mapping[str, Any]], Sequence[Pair]] | None = None

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with defaults filled in.

        Raises
        ------
        NotValid
            For an unknown parameter, or a value that is not valid.
        """
        return checked(f"the strategy {self.name}", self.parameters, params)


def first(task: Task, order: Places, why: str) -> Choice:
    """Choose the first unknown pairs of every query."""
    fresh = order[task.state[order] == UNKNOWN]
    taken = fresh
    if task.size is not None:
        taken = fresh[places_inside(task.candidates.query_of[fresh]) < task.size]
    reasons = np.zeros(len(taken), dtype=np.int8)
    return Choice(taken, (why,), reasons, len(order) - len(fresh), len(fresh) - len(taken))


def heaviest(task: Task, weights: npt.NDArray[np.float64] | Numbers, why: str) -> Choice:
    """Choose the heaviest unknown pairs of every query, ties in the seed's order."""
    # One number for query and weight: two sorts of a million rows, where lexsort needs three.
    distinct, place = np.unique(-weights, return_inverse=True)
    keys = task.candidates.query_of * max(len(distinct), 1) + place
    order = np.argsort(task.candidates.lots(task.seed), kind="stable")
    return first(task, order[np.argsort(keys[order], kind="stable")], why)


def places_inside(group_of: Places) -> Places:
    """Count the rows of each group from 0, for rows that are sorted by group.

    Examples
    --------
    >>> places_inside(np.array([3, 3, 3, 5, 5])).tolist()
    [0, 1, 2, 0, 1]
    """
    rows = np.arange(len(group_of))
    begins = np.append(True, group_of[1:] != group_of[:-1])[: len(rows)]
    return rows - np.maximum.accumulate(np.where(begins, rows, 0)) if len(rows) else rows
