"""Addition of a further stratum to a queries file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from judgments.core.errors import NotValid
from judgments.formats.query_texts import numbered_ids
from judgments.formats.rows import QueryRow, StratumRow
from pooling.sampling.draw import Sample
from pooling.sampling.filters import in_frame, without
from pooling.sampling.log import normalize
from pooling.sampling.tiers import TierCut


@dataclass(frozen=True)
class Joined:
    """The whole file, the ids of its new queries, and those that were there already and stand for the stratum now."""

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
    """Draw a stratum and put it beside the queries that are there; they keep ids, tiers, weights and probabilities.

    Parameters
    ----------
    rows : sequence of QueryRow
        The queries so far; each with weight and probability.
    cut : TierCut
        The part of a log that joins, cut into tiers of its own.
    draw : callable
        Draws from a frame.
    name, share : str, float
        The stratum, and its share of the whole traffic from now on.
    part_of : str
        The stratum whose traffic held it: its queries that belong to the new one go over, for certain, and it alone
        gives of its share. Without, the traffic is new and all others give in proportion.
    first : str
        What the queries so far are called, where they have no strata yet.

    Returns
    -------
    Joined

    Raises
    ------
    NotValid
        For a name that is taken, a stratum that is not there, or a share that cannot be.
    """
    bare = next((row for row in rows if row.weight is None or not row.probability), None)
    if bare is not None:
        raise NotValid(f"the query {bare.query_id!r} has no weight or probability; strata need both for each query")
    old = [row if row.stratum else replace(row, stratum=first, share=1.0) for row in rows]
    told = {row.stratum: row.share or 0.0 for row in old}
    told |= {place.stratum: place.share for row in old for place in row.also}
    shares = _shares(told, name, share, part_of)
    known = {normalize(row.query): row for row in reversed(old)}
    of_whole = {text: row for text, row in known.items() if part_of and part_of in _strata(row)}
    held = in_frame(cut, of_whole)
    rest = without(cut, held)
    drawn = draw(rest).queries if rest.queries else ()
    found = {row.query_id: _shared(row, shares) for row in old}
    for text, (query, tier) in held.items():
        row = found[known[text].query_id]
        place = StratumRow(name, share, tier, 1.0, query.frequency / cut.traffic)
        found[row.query_id] = _placed(row, place, leaving=part_of)
    ids = numbered_ids([one.query.text for one in drawn if one.query.query not in known], found)
    for one in drawn:
        place = StratumRow(name, share, one.tier, one.probability, one.weight)
        if one.query.query in known:
            row = found[known[one.query.query].query_id]
            found[row.query_id] = _placed(row, place)
        else:
            made = QueryRow(ids[one.query.text], " ".join(one.query.text.split()), tier=one.tier)
            made = replace(made, frequency=one.query.frequency, clients=one.query.clients)
            found[made.query_id] = _placed(made, place)
    there = [known[text].query_id for text in held]
    there += [known[one.query.query].query_id for one in drawn if one.query.query in known]
    return Joined(tuple(found.values()), tuple(ids.values()), tuple(sorted(there)))


def _shares(told: dict[str, float], name: str, share: float, part_of: str) -> dict[str, float]:
    if name in told:
        raise NotValid(f"there is a stratum {name!r} already; a further draw of it has a name of its own")
    if not 0 < share < 1:
        raise NotValid(f"the share is {share:g}; give a share of the whole traffic between 0 and 1, such as 0.2")
    if part_of and part_of not in told:
        raise NotValid(f"there is no stratum {part_of!r}; known: {', '.join(sorted(told))}")
    if part_of and told[part_of] <= share:
        raise NotValid(f"{part_of} has {told[part_of]:g} of the traffic; a part of it has less")
    left = {old: was - share if old == part_of else was if part_of else was * (1 - share) for old, was in told.items()}
    return {**left, name: share}


def _strata(row: QueryRow) -> list[str]:
    return [row.stratum, *(place.stratum for place in row.also)]


def _shared(row: QueryRow, shares: dict[str, float]) -> QueryRow:
    also = tuple(replace(place, share=shares[place.stratum]) for place in row.also)
    return replace(row, share=shares[row.stratum], also=also)


def _placed(row: QueryRow, place: StratumRow, leaving: str = "") -> QueryRow:
    """The row with a further place; its first one where it has none, or leaves its own."""
    if not row.stratum or row.stratum == leaving:
        tier, chance = place.tier or row.tier, place.probability
        return replace(
            row, stratum=place.stratum, share=place.share, tier=tier, probability=chance, weight=place.weight
        )
    return replace(row, also=(*(one for one in row.also if one.stratum != leaving), place))
