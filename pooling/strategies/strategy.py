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

from judgments.core.parameters import Parameter, checked
from judgments.core.texts import Places
from pooling.strategies.candidate_blocks import Numbers, Pair
from pooling.strategies.candidates import Candidates

# What is known of a candidate. Pending: somebody has it already, and there is no grade (yet).
UNKNOWN, NOT_RELEVANT, RELEVANT, PENDING = -1, 0, 1, -2


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of queries and documents, for strategies that read them.

    Parameters
    ----------
    queries : mapping
        Query id to text.
    documents : callable
        Ids to texts in the same order, an empty one where there are no words: only what runs return is asked for.
    """

    queries: Mapping[str, str]
    documents: Callable[[Sequence[str]], Sequence[str]]

    @classmethod
    def of(cls, queries: Mapping[str, str], documents: Mapping[str, str]) -> Wording:
        """Build it of texts by id."""
        return cls(queries, lambda doc_ids: [documents.get(doc_id, "") for doc_id in doc_ids])


@dataclass(frozen=True, eq=False, slots=True)
class Task:
    """What a strategy is given.

    Parameters
    ----------
    candidates : Candidates
        What the runs return, to the depth that the strategy asks for.
    state : int8 array, shape (pairs,)
        UNKNOWN, NOT_RELEVANT, RELEVANT or PENDING for each candidate.
    seed : int
        For every random choice.
    size : int or None
        How many new pairs of each query are wanted at most; None for as many as there are.
    wording : Wording or None
        What there is to read; there for a strategy that reads.
    """

    candidates: Candidates
    state: npt.NDArray[np.int8]
    seed: int
    size: int | None = None
    wording: Wording | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """What a strategy answers: the next pairs, all of them unknown so far.

    Parameters
    ----------
    rows : int64 array, shape (chosen,)
        Rows of the candidates, grouped by query, in the order of choice.
    why : tuple of str
        The reasons that occur.
    reason_of : int8 array, shape (chosen,)
        The reason of each row, as its place in ``why``.
    passed : int
        Pairs that would have been chosen, were they not judged or in somebody's hands already.
    over : int
        Pairs that would have been chosen, were more of them wanted.
    """

    rows: Places
    why: tuple[str, ...]
    reason_of: npt.NDArray[np.int8]
    passed: int = 0
    over: int = 0


Choose = Callable[[Task, Mapping[str, Any]], Choice]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A member of the family: how it is called, what it takes, and the function that chooses.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and one line on what it does and when to take it.
    parameters : tuple of Parameter
        What the function reads from its parameters. One called ``depth`` says how far down a run counts.
    choose : callable
        A task and the parameters to a choice.
    adaptive : bool
        Whether judgments change what is chosen next.
    reads : bool
        Whether it needs the words of queries and documents.
    given : callable, optional
        The pairs that the parameters name, for a strategy that needs no run.
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
        """The parameters with defaults filled in.

        Raises
        ------
        NotValid
            For a parameter that the strategy does not have, or a value that it cannot take.
        """
        return checked(f"the strategy {self.name}", self.parameters, params)


def first(task: Task, order: Places, why: str) -> Choice:
    """Take the first unknown pairs of every query.

    Parameters
    ----------
    task : Task
        Says what is known, and how many are wanted.
    order : int64 array
        Rows of the candidates, grouped by query, best first.
    why : str
        The reason of all of them.
    """
    fresh = order[task.state[order] == UNKNOWN]
    taken = fresh
    if task.size is not None:
        taken = fresh[places_inside(task.candidates.query_of[fresh]) < task.size]
    reasons = np.zeros(len(taken), dtype=np.int8)
    return Choice(taken, (why,), reasons, len(order) - len(fresh), len(fresh) - len(taken))


def heaviest(task: Task, weights: npt.NDArray[np.float64] | Numbers, why: str) -> Choice:
    """Take the heaviest unknown pairs of every query, equals in the seed's order.

    Parameters
    ----------
    task : Task
        Says what is known, and how many are wanted.
    weights : array, shape (pairs,)
        One for each candidate.
    why : str
        The reason of all of them.
    """
    # One number for query and weight: two sorts of a million rows, where lexsort needs three.
    distinct, place = np.unique(-weights, return_inverse=True)
    keys = task.candidates.query_of * max(len(distinct), 1) + place
    order = np.argsort(task.candidates.lots(task.seed), kind="stable")
    return first(task, order[np.argsort(keys[order], kind="stable")], why)


def places_inside(group_of: Places) -> Places:
    """Count the rows of each group from 0, for rows that stand by group.

    Examples
    --------
    >>> places_inside(np.array([3, 3, 3, 5, 5])).tolist()
    [0, 1, 2, 0, 1]
    """
    rows = np.arange(len(group_of))
    begins = np.append(True, group_of[1:] != group_of[:-1])[: len(rows)]
    return rows - np.maximum.accumulate(np.where(begins, rows, 0)) if len(rows) else rows
