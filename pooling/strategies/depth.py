"""Which documents stand among the first k of any run?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgments.core.parameters import Parameter
from pooling.strategies.pair import PoolPair, Strategy
from pooling.strategies.ranking import best_rank, lot, ranks_of

if TYPE_CHECKING:
    from judgments.core.run import Run


def choose(runs: Sequence[Run], params: Mapping[str, Any], seed: int) -> list[PoolPair]:
    """The union of the first k documents of every run.

    Parameters
    ----------
    runs : sequence of Run
        The systems' rankings.
    params : mapping
        ``depth``: k.
    seed : int
        Puts documents of equal best rank in order.

    Returns
    -------
    list of PoolPair
        By query; inside a query by best rank, equals in the seed's order. `PoolPair.runs` names the runs that have the
        document among their first k.

    Notes
    -----
    Depth-k pooling as TREC does it. Its size is that of the union, between k (all runs alike) and k times the number
    of runs (nothing shared).
    """
    pairs: list[PoolPair] = []
    for query_id, documents in ranks_of(runs, params["depth"]).items():
        ordered = sorted(
            documents, key=lambda doc_id: (best_rank(documents[doc_id]), lot(seed, query_id, doc_id), doc_id.encode())
        )
        pairs.extend(
            PoolPair(query_id, doc_id, best_rank(documents[doc_id]), documents[doc_id], "depth", step)
            for step, doc_id in enumerate(ordered, start=1)
        )
    return pairs


DEPTH = Strategy(
    name="depth",
    title="Depth k",
    description="The first k documents of every run; fair to every run, and the pool that reports can cite.",
    parameters=(Parameter("depth", "Depth", "How many documents of each run go into the pool.", 10, minimum=1),),
    choose=choose,
)
