"""Which documents carry most weight when every run's ranking is discounted by persistence?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgments.core.parameters import Parameter
from pooling.strategies.pair import PoolPair, Strategy
from pooling.strategies.ranking import best_rank, lot, ranks_of

if TYPE_CHECKING:
    from judgments.core.run import Run


def weight(where: Sequence[tuple[str, int]], p: float) -> float:
    """The sum of (1 - p) p^(r - 1) over the ranks r that the runs give a document.

    Parameters
    ----------
    where : sequence of (str, int)
        Run names with ranks from 1.
    p : float
        Persistence: the chance that a reader goes on from one rank to the next.

    Examples
    --------
    >>> round(weight([("bm25", 1), ("neural", 2)], 0.8), 4)
    0.36
    """
    return math.fsum((1.0 - p) * p ** (rank - 1) for _, rank in where)


def choose(runs: Sequence[Run], params: Mapping[str, Any], seed: int) -> list[PoolPair]:
    """The runs' first documents, heaviest first.

    Parameters
    ----------
    runs : sequence of Run
        The systems' rankings.
    params : mapping
        ``depth``: how far down a run counts; ``p``: persistence.
    seed : int
        Puts documents of equal weight in order.

    Returns
    -------
    list of PoolPair
        By query; inside a query by descending weight. Give the pool a budget: the order is what this strategy is about.

    Notes
    -----
    Moffat and Zobel's rank-biased precision gives the discount; what stays unjudged below the budget has a known,
    bounded effect on it.
    """
    pairs: list[PoolPair] = []
    for query_id, documents in ranks_of(runs, params["depth"]).items():
        ordered = sorted(
            documents,
            key=lambda doc_id: (-weight(documents[doc_id], params["p"]), lot(seed, query_id, doc_id), doc_id.encode()),
        )
        pairs.extend(
            PoolPair(query_id, doc_id, best_rank(documents[doc_id]), documents[doc_id], "rbp", step)
            for step, doc_id in enumerate(ordered, start=1)
        )
    return pairs


RBP = Strategy(
    name="rbp",
    title="RBP weight",
    description="Documents that many runs return high come first; the best fixed order when a budget cuts the pool.",
    parameters=(
        Parameter("depth", "Depth", "How many documents of each run are considered.", 50, minimum=1),
        Parameter("p", "Persistence", "How slowly the weight falls with the rank.", 0.8, 0.01, 0.99),
    ),
    choose=choose,
)
