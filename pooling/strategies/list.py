"""What if the pairs are given already?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgments.core.errors import NotValid
from judgments.core.parameters import Parameter
from pooling.strategies.pair import PoolPair, Strategy
from pooling.strategies.ranking import best_rank, ranks_of

if TYPE_CHECKING:
    from judgments.core.run import Run


def choose(runs: Sequence[Run], params: Mapping[str, Any], seed: int) -> list[PoolPair]:
    """The given pairs, with the ranks that the runs give them.

    Parameters
    ----------
    runs : sequence of Run
        May be empty; a run that returns a given document is named with its rank, however deep.
    params : mapping
        ``pairs``: sequence of ``(query_id, doc_id)``.
    seed : int
        Not used: the order is the given one.

    Returns
    -------
    list of PoolPair
        By query in byte order, inside a query in the given order. A pair that is given twice is taken once.

    Raises
    ------
    NotValid
        When no pair is given, or a pair is not two strings.
    """
    if not params["pairs"]:
        raise NotValid("the list of pairs is empty; give at least one query_id with one doc_id", {"pairs": "empty"})
    ranks = ranks_of(runs)
    given: dict[str, dict[str, None]] = {}
    for pair in params["pairs"]:
        query_id, doc_id = _two_ids(pair)
        given.setdefault(query_id, {})[doc_id] = None
    pairs: list[PoolPair] = []
    for query_id in sorted(given, key=str.encode):
        for step, doc_id in enumerate(given[query_id], start=1):
            where = ranks.get(query_id, {}).get(doc_id, ())
            pairs.append(PoolPair(query_id, doc_id, best_rank(where), where, "list", step))
    return pairs


def _two_ids(pair: Any) -> tuple[str, str]:
    if isinstance(pair, Mapping):
        pair = (pair.get("query_id"), pair.get("doc_id"))
    if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(part, str) and part for part in pair):
        message = f"{pair!r} is not a pair; give query_id and doc_id as text"
        raise NotValid(message, {"pairs": message})
    return pair[0], pair[1]


LIST = Strategy(
    name="list",
    title="A given list",
    description="Exactly the pairs that are given, for a start without runs or a second look at chosen pairs.",
    parameters=(Parameter("pairs", "Pairs", "The pairs, each a query_id with a doc_id.", ()),),
    choose=choose,
)
