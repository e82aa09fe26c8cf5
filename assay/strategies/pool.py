"""Pool creation from a strategy, a budget, earlier judgments, duplicates and a residual stratum."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_column import Places
from assay.core.text_rules import amount
from assay.strategies import STRATEGIES
from assay.strategies.candidates import Candidates, Pair
from assay.strategies.chosen_pairs import RESIDUAL, Pool
from assay.strategies.duplicates import Copies, Duplicates, find_copies
from assay.strategies.strategy import (
    NOT_RELEVANT,
    PENDING,
    RELEVANT,
    UNKNOWN,
    Choice,
    Strategy,
    Task,
    Wording,
    places_inside,
)

if TYPE_CHECKING:
    from assay.core.run import Run

Judged = Collection[Pair] | Mapping[Pair, float | None]
State = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Ask:
    """A request for a pool: how many pairs, known grades, queries."""

    seed: int = 0
    budget: int | None = None
    residual: int = 0
    judged: Judged = frozenset()
    relevant_from: float = 1.0
    queries: frozenset[str] | None = None
    wording: Wording | None = None
    total: int | None = None
    duplicates: Duplicates | None = None

    def __post_init__(self) -> None:
        if self.total is not None and self.total < 1:
            message = f"total is {self.total}. Use at least 1 pair, or no total."
            raise NotValid(message, {"total": "At least 1."})
        if self.budget is not None and self.budget < 1:
            message = f"budget is {self.budget}. Use at least 1 pair per query, or no budget."
            raise NotValid(message, {"budget": "At least 1."})
        if self.residual < 0:
            message = f"residual is {self.residual}. Use 0 or more pairs per query."
            raise NotValid(message, {"residual": "At least 0."})

    def state(self, table: Candidates) -> State:
        """Return the known state of each candidate, shape (pairs,)."""
        state = np.full(len(table), UNKNOWN, dtype=np.int8)
        known = list(self.judged)
        grades = [self.judged[pair] for pair in known] if isinstance(self.judged, Mapping) else [None] * len(known)
        codes = [PENDING if g is None else RELEVANT if g >= self.relevant_from else NOT_RELEVANT for g in grades]
        rows = table.find(known)
        state[rows[rows >= 0]] = np.array(codes, dtype=np.int8)[rows >= 0]
        return state


def pool(
    runs: Any,
    strategy: str = "depth",
    *,
    judged: Any = None,
    seed: int = 0,
    budget: int | None = None,
    residual: int = 0,
    total: int | None = None,
    relevant_from: float = 1.0,
    **parameters: Any,
) -> Pool:
    """Choose the pairs of a pool from runs in files, dicts or data frames; see `build_pool`.

    Parameters
    ----------
    runs : path, dict, DataFrame, Run, or several of them in a sequence or by name in a dict
        The systems' rankings.
    strategy : str
        A name of `assay.strategies.STRATEGIES`.
    judged : path, dict, DataFrame, iterable or Qrels, optional
        Labels of pairs that need no more judgments, in any form that `assay.read_qrels` accepts.
    seed, budget, residual, total, relevant_from
        As for `build_pool`.
    **parameters
        The strategy's parameters, such as ``depth=10``.

    Raises
    ------
    UnreadableInput
        When a file cannot be read.
    NotValid
        When the strategy or a parameter is unknown, or a value is out of range.

    Examples
    --------
    >>> bm25 = {"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}
    >>> neural = {"q1": {"d4": 0.9, "d1": 0.8, "d5": 0.7}}
    >>> sorted(row["doc_id"] for row in pool({"bm25": bm25, "neural": neural}, depth=2).to_rows())
    ['d1', 'd3', 'd4']
    """
    from assay.core.run import Run
    from assay.formats.qrels_and_runs import read_qrels, read_runs

    known = {} if judged is None else {(query, doc): grade for query, doc, grade in read_qrels(judged).rows()}
    whole = (run if isinstance(run, Run) else run.whole() for run in read_runs(runs))
    return build_pool(
        whole,
        strategy,
        parameters,
        seed=seed,
        budget=budget,
        residual=residual,
        judged=known,
        relevant_from=relevant_from,
        total=total,
    )


def build_pool(
    runs: Iterable[Run],
    strategy: str = "depth",
    params: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    budget: int | None = None,
    residual: int = 0,
    judged: Judged = frozenset(),
    relevant_from: float = 1.0,
    queries: Collection[str] | None = None,
    wording: Wording | None = None,
    total: int | None = None,
    duplicates: Duplicates | None = None,
) -> Pool:
    """Choose the pairs of a pool."""
    member = STRATEGIES[strategy]
    checked = member.checked(params or {})
    also = member.given(checked) if member.given else ()
    only = None if queries is None else frozenset(queries)
    if member.given:
        named = frozenset(query_id for query_id, _ in also)
        only = named if only is None else only & named
    ask = Ask(seed, budget, residual, judged, relevant_from, only, wording, total, duplicates)
    if member.reads and wording is None:
        raise NotValid(f"The strategy {strategy} needs texts. Add the texts of the queries and documents.", "strategy")
    depth = checked.get("depth")
    table = Candidates.of(runs, None if residual else depth, also, ask.queries)
    if not table.run_names and not member.given:
        raise NotValid(f"The strategy {strategy} needs at least one run.", {"runs": "None given."})
    state = ask.state(table)
    choice, copies = _apart(table, state, ask, lambda known: _chosen(member, checked, table, known, ask))
    state[copies.rows] = PENDING
    choice = _within_total(table, state, choice, ask)
    copies = copies.where(np.isin(copies.of, choice.rows))
    rest, chances = _residual(table, state, choice, ask) if residual else (np.zeros(0, dtype=np.int64), np.zeros(0))
    return _joined(table, choice, copies, (rest, chances), (strategy, checked, ask))


def _apart(table: Candidates, state: State, ask: Ask, choose: Callable[[State], Choice]) -> tuple[Choice, Copies]:
    """Choose without duplicates. If the budget left out pairs, the strategy chooses replacements."""
    first = choice = choose(state)
    if ask.duplicates is None:
        return choice, Copies.none()
    copies, seen = Copies.none(), np.zeros(len(table), dtype=np.bool_)
    while True:
        fresh = choice.rows[~seen[choice.rows]]
        seen[fresh] = True
        # A query is checked again only where it got a document that was not compared yet.
        again = np.isin(table.query_of, table.query_of[fresh]) & seen
        later = find_copies(table, np.flatnonzero(again), ask.duplicates)
        copies = Copies.joined([copies.where(~again[copies.rows]), later])
        if not choice.over or not len(copies) or not np.isin(choice.rows, copies.rows).any():
            break
        known = state.copy()
        known[copies.rows] = PENDING
        choice = choose(known)
    remaining = ~np.isin(choice.rows, copies.rows)
    return replace(
        choice, rows=choice.rows[remaining], reason_of=choice.reason_of[remaining], passed=first.passed
    ), copies


def _within_total(table: Candidates, state: State, choice: Choice, ask: Ask) -> Choice:
    """Cut every query at the same number of pairs, the largest that stays within the total."""
    if ask.total is None:
        return choice
    sizes = np.bincount(table.query_of[choice.rows], minlength=len(table.query_ids))
    queries = int(np.count_nonzero(sizes))
    # Pairs that are cut here may be drawn there.
    drawn = int(np.minimum(np.bincount(table.query_of[state == UNKNOWN]), ask.residual).sum())
    left = ask.total - drawn
    if left < queries:
        message = (
            f"A total of {amount(ask.total, 'pair')} is not enough for one pair for each of "
            f"{amount(queries, 'query', 'queries')}"
        )
        message += f" in addition to {amount(drawn, 'pair')} from the residual stratum" if drawn else ""
        raise NotValid(message, {"total": f"At least {queries + drawn:,}, or fewer queries."})
    depths = np.arange(1, int(sizes.max(initial=1)) + 1)
    # The number of pairs for each maximum per query.
    counts = np.cumsum(len(sizes) - np.searchsorted(np.sort(sizes), depths, side="left"))
    most = int(np.searchsorted(counts, left, side="right"))
    inside = places_inside(table.query_of[choice.rows]) < most
    over = choice.over + int(np.count_nonzero(~inside))
    return replace(choice, rows=choice.rows[inside], reason_of=choice.reason_of[inside], over=over)


def _chosen(member: Strategy, params: dict[str, Any], table: Candidates, state: State, ask: Ask) -> Choice:
    """Run the strategy on the part of the rankings that it considers."""
    depth = params.get("depth")
    if depth is None or not len(table.ranks) or int(table.ranks.max()) <= depth:
        return member.choose(Task(table, state, ask.seed, ask.budget, ask.wording), params)
    near, rows = table.within(depth)
    choice = member.choose(Task(near, state[rows], ask.seed, ask.budget, ask.wording), params)
    return Choice(rows[choice.rows], choice.why, choice.reason_of, choice.passed, choice.over)


def _residual(table: Candidates, state: State, choice: Choice, ask: Ask) -> tuple[Places, npt.NDArray[np.float64]]:
    """Draw from the rest of every query that the strategy considered."""
    left = state == UNKNOWN
    left[choice.rows] = False
    rest = np.flatnonzero(left)
    rest = rest[np.lexsort((table.lots(ask.seed, RESIDUAL)[rest], table.query_of[rest]))]
    counts = np.bincount(table.query_of[rest], minlength=len(table.query_ids))
    drawn = rest[places_inside(table.query_of[rest]) < ask.residual]
    return drawn, np.minimum(1.0, ask.residual / counts[table.query_of[drawn]])


def _joined(
    table: Candidates,
    choice: Choice,
    copies: Copies,
    residual: tuple[Places, npt.NDArray[np.float64]],
    how: tuple[str, dict[str, Any], Ask],
) -> Pool:
    """Combine each query's pairs, the residual stratum last, and count the steps."""
    strategy, params, ask = how
    rest, chances = residual
    rows = np.concatenate([choice.rows, rest])
    reasons = np.concatenate([choice.reason_of, np.full(len(rest), len(choice.why), dtype=np.int8)])
    probabilities = np.concatenate([np.ones(len(choice.rows)), chances])
    order = np.argsort(table.query_of[rows], kind="stable")
    return Pool(
        candidates=table,
        rows=rows[order],
        steps=places_inside(table.query_of[rows[order]]) + 1,
        why=(*choice.why, RESIDUAL),
        reason_of=reasons[order].astype(np.int8),
        probabilities=probabilities[order],
        strategy=strategy,
        params=params,
        seed=ask.seed,
        budget=ask.budget,
        residual=ask.residual,
        judged=choice.passed,
        over_budget=choice.over,
        total=ask.total,
        copies=copies,
    )
