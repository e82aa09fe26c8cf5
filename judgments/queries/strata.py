"""Strata: the parts of the traffic that a collection's queries represent.

A new stratum takes its share from all others, or from the stratum that included its traffic before. Queries keep their
ids, tiers, weights and probabilities, which are valid inside the stratum in which they were drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from assay.formats.queries import stratum_fault
from assay.formats.row_types import StratumRow
from judgments.models import Collection, Place, Query, Stratum

FIRST = "first"
# The minimum share that a stratum keeps when a part is split off; less is a rounding error.
LEAST_SHARE = 1e-9


@transaction.atomic
def join(
    collection: Collection, *, name: str, share: float, part_of: str = "", first: str = FIRST, filters: Any = None
) -> Stratum:
    """Add a stratum and adjust the shares of the others."""
    # Lock the row, so that two concurrent additions see each other's share.
    Collection.objects.select_for_update().get(pk=collection.pk)
    if not collection.strata.exists():
        base = Stratum.objects.create(collection=collection, name=_named(first, "first"), share=1.0)
        collection.queries.filter(probability__isnull=False, stratum__isnull=True).update(stratum=base)
    strata = {stratum.name: stratum for stratum in collection.strata.all()}
    if _named(name, "name") in strata:
        raise Conflict(f"Another stratum is already called {name}. Give this one another name.")
    if not 0 < share < 1:
        raise NotValid("The share of the traffic must be between 0 and 1.", {"share": "Enter a number such as 0.2."})
    if part_of and part_of not in strata:
        known = ", ".join(strata)
        raise NotValid(f"Unknown stratum {part_of}.", {"part_of": f"Choose one of {known}, or leave the field empty."})
    whole = strata.get(part_of)
    if whole is not None and whole.share - share < LEAST_SHARE:
        message = f"{part_of} has {whole.share:.4g} of the traffic. Enter a smaller share for a part of it."
        raise NotValid(message, "share")
    for stratum in [whole] if whole is not None else list(strata.values()):
        stratum.share = stratum.share - share if whole is not None else stratum.share * (1 - share)
        stratum.save(update_fields=["share"])
    return Stratum.objects.create(collection=collection, name=name, share=share, part_of=whole, filters=filters or {})


def _named(name: str, field: str) -> str:
    if odd := stratum_fault(name):
        raise NotValid(f"The name is not valid: {odd}.", {field: "Enter a short name such as shoes or de."})
    return name


def places(queries: Iterable[Query]) -> dict[int, list[StratumRow]]:
    """Return the current strata of each query by the query's key, the stratum of its first draw first."""
    rows = list(queries)
    strata = {
        stratum.pk: stratum for stratum in Stratum.objects.filter(collection__in={one.collection_id for one in rows})
    }
    if not strata:
        return {}
    rows_by_query: dict[int, list[tuple[int, StratumRow]]] = {}
    for query in rows:
        if query.stratum_id and query.probability and query.weight is not None:
            rows_by_query[query.pk] = [(query.stratum_id, _row(strata[query.stratum_id], query))]
    for place in Place.objects.filter(stratum__in=strata).order_by("pk"):
        rows_by_query.setdefault(place.query_id, []).append((place.stratum_id, _row(strata[place.stratum_id], place)))
    return {query.pk: _standing(rows_by_query[query.pk], strata) for query in rows if query.pk in rows_by_query}


def _row(stratum: Stratum, place: Any) -> StratumRow:
    return StratumRow(stratum.name, stratum.share, place.tier, place.probability, place.weight)


def _standing(rows: list[tuple[int, StratumRow]], strata: dict[int, Stratum]) -> list[StratumRow]:
    given: set[int] = set()
    for stratum, _ in rows:
        above = strata[stratum].part_of_id
        while above:
            given.add(above)
            above = strata[above].part_of_id
    return [row for stratum, row in rows if stratum not in given]
