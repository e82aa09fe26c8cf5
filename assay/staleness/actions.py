"""Actions against stale labels, and the pairs that each action selects."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.staleness.facts import DEPTH

Pair = tuple[str, str]
Rankings = Iterable[tuple[str, list[str]]]
OVERLAP = 0.20


@dataclass(frozen=True)
class Action:
    """An act that fixes a signal.

    ``pools`` says whether it makes a pool of pairs; the others lead to where queries are drawn. ``since`` says whether
    only runs count that were made after what was declared.
    """

    name: str
    title: str
    words: str
    pools: bool = True
    since: bool = False


ACTIONS = {
    action.name: action
    for action in (
        Action("judge-holes", "Judge the holes", f"Judge the unjudged documents among the first {DEPTH} of each run."),
        Action(
            "judge-new",
            "Judge new documents only",
            f"Pool again, and judge the documents that came since and that runs return among their first {DEPTH}.",
        ),
        Action("judge-changed", "Judge changed documents again", "Judge the pairs again whose document changed."),
        Action(
            "repool",
            "Pool all again",
            f"Bring the runs of today’s systems, pool their first {DEPTH} anew and judge all of it.",
            since=True,
        ),
        Action(
            "repool-overlap",
            "Pool again, re-rate 20 %",
            f"Add the runs of today’s systems, judge the unjudged documents among their first {DEPTH},"
            " and rate a fifth of the judged pairs once more to see whether grades hold.",
            since=True,
        ),
        Action("overlap", "Re-rate 20 %", "Rate a fifth of the judged pairs once more to see whether grades hold."),
        Action(
            "new-stratum",
            "Add a stratum",
            "Draw queries of what is new as a stratum of its own, and judge it from the beginning.",
            pools=False,
        ),
        Action("redraw", "Draw queries anew", "Draw queries from the newest log, and judge those that are new.", False),
    )
}


def holes(judged: Mapping[str, Collection[str]], rankings: Rankings, depth: int = DEPTH) -> list[Pair]:
    """Return the unjudged pairs among the first ranks, each once, in the order in which they are met.

    Queries that nothing was judged of are left alone: they are new queries, not holes.

    Examples
    --------
    >>> holes({"q1": {"d1"}}, [("q1", ["d1", "d2"]), ("q9", ["d1"])])
    [('q1', 'd2')]
    """
    pairs = ((query_id, doc_id) for query_id, doc_ids in rankings for doc_id in doc_ids[:depth])
    return list(dict.fromkeys(pair for pair in pairs if pair[0] in judged and pair[1] not in judged[pair[0]]))


def overlap(pairs: Iterable[Pair], seed: int, share: float = OVERLAP) -> list[Pair]:
    """Return a share of the judged pairs, drawn by chance, at least one of them; in the order of their ids.

    The pairs are sorted first: the same seed draws the same ones, in whatever order they came.

    Examples
    --------
    >>> pairs = [("q1", f"d{n}") for n in range(10)]
    >>> overlap(pairs, seed=1) == overlap(pairs[::-1], seed=1), len(overlap(pairs, seed=1))
    (True, 2)
    """
    ordered = sorted(set(pairs), key=lambda pair: (pair[0].encode(), pair[1].encode()))
    number = max(1, round(share * len(ordered))) if ordered else 0
    # Not for secrets: a seed is stored so that anybody can draw the same again.
    drawn = random.Random(seed).sample(range(len(ordered)), number)  # noqa: S311
    return [ordered[place] for place in sorted(drawn)]


def with_documents(pairs: Sequence[Pair], documents: Collection[str]) -> list[Pair]:
    """Return the pairs of these documents only."""
    wanted = set(documents)
    return [pair for pair in pairs if pair[1] in wanted]
