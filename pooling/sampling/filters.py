"""Filters that select one part of a log's traffic, and draws that exclude existing queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pooling.sampling.languages import speaks
from pooling.sampling.log import normalize
from pooling.sampling.queries import LogQuery
from pooling.sampling.tiers import TierCut


@dataclass(frozen=True)
class Filter:
    """A part of a log.

    Parameters
    ----------
    words : tuple of str
        A query holds any of these, as whole words.
    queries : tuple of str
        Or it is one of these, normalized as the log is.
    language : str
        Of these, only queries of which most searches are in this language, as the log tells it.

    Examples
    --------
    >>> texts = ("red shoes", "running shoe men", "shoeshine")
    >>> counted = [LogQuery(text, text, 1, None, 1, None) for text in texts]
    >>> [query.text for query in Filter(words=("Shoes", "running shoe")).of(counted)]
    ['red shoes', 'running shoe men']
    """

    words: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    language: str = ""

    def __bool__(self) -> bool:
        return bool(self.words or self.queries or self.language)

    def as_json(self) -> dict[str, Any]:
        """What a draw puts on record."""
        told = {"words": list(self.words), "queries": list(self.queries), "language": self.language}
        return {name: value for name, value in told.items() if value}

    def of(self, queries: Sequence[LogQuery]) -> list[LogQuery]:
        """The queries that it takes, in their order."""
        words, named = [f" {normalize(word)} " for word in self.words], {normalize(one) for one in self.queries}
        found = []
        for query in queries:
            by_text = not (words or named) or query.query in named or any(one in f" {query.query} " for one in words)
            if by_text and (not self.language or speaks(query.language, self.language)):
                found.append(query)
        return found


def without(cut: TierCut, there: Collection[str]) -> TierCut:
    """The frame less the queries that are in hand: tiers and shares of the traffic stay those of the whole frame.

    Examples
    --------
    >>> from pooling.sampling.tiers import cut_tiers
    >>> counted = [LogQuery(word, word, n, None, 1, None) for word, n in [("tent", 5), ("rope", 3), ("knot", 2)]]
    >>> rest = without(cut_tiers(counted), {"rope"})
    >>> [query.query for query in rest.queries], rest.tier, rest.traffic
    (['tent', 'knot'], ('head', 'tail'), 10)
    """
    kept = [(query, tier) for query, tier in zip(cut.queries, cut.tier, strict=True) if query.query not in there]
    return replace(cut, queries=tuple(query for query, _ in kept), tier=tuple(tier for _, tier in kept))


def in_frame(cut: TierCut, texts: Mapping[str, Any]) -> dict[str, tuple[LogQuery, str]]:
    """Those of the normalized texts that the frame holds, each as it was counted and with its tier."""
    return {
        query.query: (query, tier) for query, tier in zip(cut.queries, cut.tier, strict=True) if query.query in texts
    }
