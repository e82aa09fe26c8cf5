"""Filters that select part of a log's traffic, and draws that exclude existing queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.sampling.languages import language_matches
from assay.sampling.query_table import LogQuery
from assay.sampling.row_counting import normalize
from assay.sampling.tiers import TierCut


@dataclass(frozen=True)
class Filter:
    """A part of a log.

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
        """Return the record of the filter that is stored with a draw."""
        values = {"words": list(self.words), "queries": list(self.queries), "language": self.language}
        return {name: value for name, value in values.items() if value}

    def of(self, queries: Sequence[LogQuery]) -> list[LogQuery]:
        """Return the queries that pass the filter, in order."""
        words, named = [f" {normalize(word)} " for word in self.words], {normalize(one) for one in self.queries}
        matching = []
        for query in queries:
            by_text = not (words or named) or query.query in named or any(one in f" {query.query} " for one in words)
            if by_text and (not self.language or language_matches(query.language, self.language)):
                matching.append(query)
        return matching


def without(cut: TierCut, there: Collection[str]) -> TierCut:
    """Return the frame without the existing queries; tiers and traffic shares are still those of the whole frame.

    Examples
    --------
    >>> from assay.sampling.tiers import cut_tiers
    >>> counted = [LogQuery(word, word, n, None, 1, None) for word, n in [("tent", 5), ("rope", 3), ("knot", 2)]]
    >>> rest = without(cut_tiers(counted), {"rope"})
    >>> [query.query for query in rest.queries], rest.tier, rest.traffic
    (['tent', 'knot'], ('head', 'tail'), 10)
    """
    rest = [(query, tier) for query, tier in zip(cut.queries, cut.tier, strict=True) if query.query not in there]
    return replace(cut, queries=tuple(query for query, _ in rest), tier=tuple(tier for _, tier in rest))


def in_frame(cut: TierCut, texts: Mapping[str, Any]) -> dict[str, tuple[LogQuery, str]]:
    """Return the normalized texts that the frame has, each with its counted query and its tier."""
    return {
        query.query: (query, tier) for query, tier in zip(cut.queries, cut.tier, strict=True) if query.query in texts
    }
