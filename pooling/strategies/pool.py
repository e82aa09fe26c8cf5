"""Which pairs make up a pool, once budget, earlier judgments and the residual stratum are counted?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from judgments.core.errors import NotValid
from pooling.strategies import STRATEGIES
from pooling.strategies.pair import PoolPair
from pooling.strategies.ranking import best_rank, by_name, lot, ranks_of

if TYPE_CHECKING:
    from judgments.core.run import Run

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Pool:
    """The pairs chosen for judging, and everything that is needed to choose them again.

    Parameters
    ----------
    pairs : tuple of PoolPair
        By query in byte order, inside a query in the order of choice, the residual stratum last.
    strategy : str
        The strategy's name.
    params : dict
        Its parameters, defaults included.
    seed : int
        The seed of every random choice.
    budget, residual : int or None, int
        As they were asked for, per query.
    runs : tuple of str
        The runs' names.
    judged : int
        Pairs that the strategy chose but that are judged already; they are not in the pool.
    over_budget : int
        Pairs that the strategy chose but the budget cut.
    """

    pairs: tuple[PoolPair, ...]
    strategy: str
    params: dict[str, Any]
    seed: int
    budget: int | None
    residual: int
    runs: tuple[str, ...]
    judged: int
    over_budget: int

    def __len__(self) -> int:
        return len(self.pairs)


def build_pool(
    runs: Sequence[Run],
    strategy: str = "depth",
    params: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    budget: int | None = None,
    residual: int = 0,
    judged: Collection[Pair] = frozenset(),
    queries: Collection[str] | None = None,
) -> Pool:
    """Choose the pairs of a pool.

    Parameters
    ----------
    runs : sequence of Run
        The systems' rankings; may be empty for the strategy ``list``.
    strategy : str
        A name of `pooling.strategies.STRATEGIES`.
    params : mapping, optional
        The strategy's parameters; its defaults otherwise.
    seed : int
        Puts equals in order and draws the residual stratum.
    budget : int, optional
        At most so many of the strategy's pairs per query.
    residual : int
        So many more pairs per query, on top of the budget, drawn at random from what the runs return beyond the pool.
    judged : collection of (query_id, doc_id)
        Pairs that need no judgment any more; they spend no budget.
    queries : collection of str, optional
        Only these queries; all that the runs answer by default.

    Returns
    -------
    Pool

    Raises
    ------
    UnknownName
        For a strategy that nobody has.
    NotValid
        For parameters that cannot be used, runs of one name, or no run where one is needed.

    Notes
    -----
    The residual stratum is a simple random sample without replacement: with m drawn of M remaining documents each has
    the inclusion probability m / M. It is the part of a pool that lets one estimate how much relevant was missed.
    """
    _check_counts(budget, residual)
    member = STRATEGIES[strategy]
    if not runs and strategy != "list":
        raise NotValid(f"strategy {strategy} needs at least one run", {"runs": "none given"})
    checked = member.checked(params or {})
    chosen = [pair for pair in member.choose(runs, checked, seed) if queries is None or pair.query_id in queries]
    known = judged if isinstance(judged, (set, frozenset)) else frozenset(judged)
    fresh = [pair for pair in chosen if (pair.query_id, pair.doc_id) not in known]
    kept = _within_budget(fresh, budget)
    taken = {(pair.query_id, pair.doc_id) for pair in kept}
    rest = _residual(runs, residual, seed, taken | known, {pair.query_id for pair in chosen}) if residual else []
    return Pool(
        pairs=_numbered([*kept, *rest]),
        strategy=strategy,
        params=checked,
        seed=seed,
        budget=budget,
        residual=residual,
        runs=tuple(run.name for run in by_name(runs)),
        judged=len(chosen) - len(fresh),
        over_budget=len(fresh) - len(kept),
    )


def _check_counts(budget: int | None, residual: int) -> None:
    if budget is not None and budget < 1:
        raise NotValid(f"budget is {budget}; give at least 1 pair a query, or none", {"budget": "at least 1"})
    if residual < 0:
        raise NotValid(f"residual is {residual}; give 0 or more pairs a query", {"residual": "at least 0"})


def _within_budget(pairs: list[PoolPair], budget: int | None) -> list[PoolPair]:
    if budget is None:
        return pairs
    groups = groupby(pairs, key=lambda pair: pair.query_id)
    return [pair for _, group in groups for pair in list(group)[:budget]]


def _residual(
    runs: Sequence[Run], size: int, seed: int, taken: Collection[Pair], queries: Collection[str]
) -> list[PoolPair]:
    drawn: list[PoolPair] = []
    for query_id, documents in ranks_of(runs).items():
        if query_id not in queries:
            continue
        rest = [doc_id for doc_id in documents if (query_id, doc_id) not in taken]
        rest.sort(key=lambda doc_id: (lot(seed, "residual", query_id, doc_id), doc_id.encode()))
        drawn.extend(
            PoolPair(
                query_id,
                doc_id,
                best_rank(documents[doc_id]),
                documents[doc_id],
                "residual",
                step=0,
                probability=min(1.0, size / len(rest)),
            )
            for doc_id in rest[:size]
        )
    return drawn


def _numbered(pairs: list[PoolPair]) -> tuple[PoolPair, ...]:
    """Put each query's pairs together again and count the steps anew."""
    ordered = sorted(pairs, key=lambda pair: pair.query_id.encode())
    return tuple(
        replace(pair, step=step)
        for _, group in groupby(ordered, key=lambda pair: pair.query_id)
        for step, pair in enumerate(group, start=1)
    )
