"""Actions against stale labels, and the pairs that each action selects."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.core.unjudged import DEPTH

Pair = tuple[str, str]
Rankings = Iterable[tuple[str, list[str]]]
OVERLAP = 0.20


@dataclass(frozen=True)
class Action:
    """An action that fixes a signal. ``pools`` tells whether it creates a pool; other actions lead to the query
    sampling page. ``since`` tells whether only runs after the recorded change count.
    """

    name: str
    title: str
    words: str
    pools: bool = True
    since: bool = False


ACTIONS = {
    action.name: action
    for action in (
        Action(
            "judge-holes", "Judge unjudged documents", f"Judge the unjudged documents in the top {DEPTH} of each run."
        ),
        Action(
            "judge-new",
            "Judge new documents only",
            f"Pool again, and judge the documents that were added since the labels were frozen and are in the "
            f"top {DEPTH} of a run.",
        ),
        Action("judge-changed", "Rejudge changed documents", "Rejudge the pairs whose document changed."),
        Action(
            "repool",
            "Pool all queries again",
            f"Add the runs of the current systems, pool their top {DEPTH} again and judge all pairs.",
            since=True,
        ),
        Action(
            "repool-overlap",
            "Pool again, rerate 20%",
            (
                f"Add the runs of the current systems, judge the unjudged documents in their top {DEPTH}, and rerate "
                "a fifth of the judged pairs to check whether the grades still hold."
            ),
            since=True,
        ),
        Action("overlap", "Rerate 20%", "Rerate a fifth of the judged pairs to check whether the grades still hold."),
        Action(
            "new-stratum",
            "Add a stratum",
            "Draw queries for the new content as a separate stratum and judge it from scratch.",
            pools=False,
        ),
        Action("redraw", "Draw queries again", "Draw queries from the newest log and judge the new ones.", False),
    )
}


def holes(judged: Mapping[str, Collection[str]], rankings: Rankings, depth: int = DEPTH) -> list[Pair]:
    """Return the distinct unjudged pairs in the top ranks, in order of appearance. Queries without judgments are
    skipped, because they are new queries.

    Examples
    --------
    >>> holes({"q1": {"d1"}}, [("q1", ["d1", "d2"]), ("q9", ["d1"])])
    [('q1', 'd2')]
    """
    pairs = ((query_id, doc_id) for query_id, doc_ids in rankings for doc_id in doc_ids[:depth])
    return list(dict.fromkeys(pair for pair in pairs if pair[0] in judged and pair[1] not in judged[pair[0]]))


def overlap(pairs: Iterable[Pair], seed: int, share: float = OVERLAP) -> list[Pair]:
    """Return a random share of the judged pairs, at least one, sorted by id. The pairs are sorted first, so that the
    same seed draws the same pairs regardless of their order.

    Examples
    --------
    >>> pairs = [("q1", f"d{n}") for n in range(10)]
    >>> overlap(pairs, seed=1) == overlap(pairs[::-1], seed=1), len(overlap(pairs, seed=1))
    (True, 2)
    """
    ordered = sorted(set(pairs), key=lambda pair: (pair[0].encode(), pair[1].encode()))
    number = max(1, round(share * len(ordered))) if ordered else 0
    # Not for secrets: the seed is stored so that the draw can be repeated.
    drawn = random.Random(seed).sample(range(len(ordered)), number)  # noqa: S311
    return [ordered[place] for place in sorted(drawn)]


def with_documents(pairs: Sequence[Pair], documents: Collection[str]) -> list[Pair]:
    """Return the pairs of these documents only."""
    wanted = set(documents)
    return [pair for pair in pairs if pair[1] in wanted]
