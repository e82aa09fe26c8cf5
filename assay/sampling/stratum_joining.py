"""Addition of a stratum to a queries file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.core.errors import NotValid
from assay.formats.queries import numbered_ids
from assay.formats.row_types import QueryRow, StratumRow
from assay.sampling.draw import Sample
from assay.sampling.languages import language_matches
from assay.sampling.query_table import LogQuery
from assay.sampling.row_counting import normalize
from assay.sampling.tiers import TierCut


@dataclass(frozen=True)
class Joined:
    """The whole file, the ids of its new queries, and the ids of existing queries that now belong to the stratum."""

    rows: tuple[QueryRow, ...]
    new: tuple[str, ...]
    there: tuple[str, ...]


def join_stratum(
    rows: Sequence[QueryRow],
    cut: TierCut,
    draw: Callable[[TierCut], Sample],
    *,
    name: str,
    share: float,
    part_of: str = "",
    first: str = "first",
) -> Joined:
    """Draw a stratum and add it to the existing queries, which keep ids, tiers, weights and probabilities."""
    bare = next((row for row in rows if row.weight is None or not row.probability), None)
    if bare is not None:
        raise NotValid(
            f"The query {bare.query_id!r} has no weight or probability. Strata need both values for each query."
        )
    old = [row if row.stratum else replace(row, stratum=first, share=1.0) for row in rows]
    before = {row.stratum: row.share or 0.0 for row in old}
    before |= {place.stratum: place.share for row in old for place in row.also}
    shares = _shares(before, name, share, part_of)
    known = {normalize(row.query): row for row in reversed(old)}
    of_whole = {text: row for text, row in known.items() if part_of and part_of in _strata(row)}
    held = in_frame(cut, of_whole)
    rest = without(cut, held)
    drawn = draw(rest).queries if rest.queries else ()
    by_id = {row.query_id: _shared(row, shares) for row in old}
    for text, (query, tier) in held.items():
        row = by_id[known[text].query_id]
        place = StratumRow(name, share, tier, 1.0, query.frequency / cut.traffic)
        by_id[row.query_id] = _placed(row, place, leaving=part_of)
    ids = numbered_ids([one.query.text for one in drawn if one.query.query not in known], by_id)
    for one in drawn:
        place = StratumRow(name, share, one.tier, one.probability, one.weight)
        if one.query.query in known:
            row = by_id[known[one.query.query].query_id]
            by_id[row.query_id] = _placed(row, place)
        else:
            made = QueryRow(ids[one.query.text], " ".join(one.query.text.split()), tier=one.tier)
            made = replace(made, frequency=one.query.frequency, clients=one.query.clients)
            by_id[made.query_id] = _placed(made, place)
    there = [known[text].query_id for text in held]
    there += [known[one.query.query].query_id for one in drawn if one.query.query in known]
    return Joined(tuple(by_id.values()), tuple(ids.values()), tuple(sorted(there)))


def _shares(old_shares: dict[str, float], name: str, share: float, part_of: str) -> dict[str, float]:
    if name in old_shares:
        raise NotValid(f"A stratum {name!r} already exists. Use another name for a further draw from it.")
    if not 0 < share < 1:
        raise NotValid(f"The share is {share:g}. Use a share of all traffic between 0 and 1, such as 0.2.")
    if part_of and part_of not in old_shares:
        raise NotValid(f"Unknown stratum {part_of!r}. Strata: {', '.join(sorted(old_shares))}.")
    if part_of and old_shares[part_of] <= share:
        raise NotValid(
            f"{part_of} has {old_shares[part_of]:g} of the traffic. Use a smaller share for a stratum that is a part "
            "of it."
        )
    left = {
        old: was - share if old == part_of else was if part_of else was * (1 - share) for old, was in old_shares.items()
    }
    return {**left, name: share}


def _strata(row: QueryRow) -> list[str]:
    return [row.stratum, *(place.stratum for place in row.also)]


def _shared(row: QueryRow, shares: dict[str, float]) -> QueryRow:
    also = tuple(replace(place, share=shares[place.stratum]) for place in row.also)
    return replace(row, share=shares[row.stratum], also=also)


def _placed(row: QueryRow, place: StratumRow, leaving: str = "") -> QueryRow:
    """Return the row with an additional stratum, which comes first if the row has no stratum or leaves its own."""
    if not row.stratum or row.stratum == leaving:
        tier, chance = place.tier or row.tier, place.probability
        return replace(
            row, stratum=place.stratum, share=place.share, tier=tier, probability=chance, weight=place.weight
        )
    return replace(row, also=(*(one for one in row.also if one.stratum != leaving), place))


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
