"""Storage of queries drawn from a log, with a record of the draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any
from uuid import UUID, uuid4

from assay.core.errors import Conflict, NotValid
from assay.formats.queries import numbered_ids
from assay.sampling.counted_log import CountedLog
from assay.sampling.draw import PPS, STRATIFIED, Sample, SampledQuery, draw_pps, draw_stratified, effective_size
from assay.sampling.tiers import TierCut
from judgments.models import Query, QuerySample
from pooling.logs.traffic import rows_on
from pooling.models import QueryLog

# The sampling fields of a query.
DRAWN = ("tier", "probability", "weight", "frequency", "clients", "sample", "raw_row")


def record_draw(
    log: QueryLog,
    *,
    method: str,
    seed: int,
    parameters: dict[str, Any],
    frame: CountedLog,
    tiers: TierCut,
    token: UUID | str | None = None,
) -> QuerySample:
    """Record what is needed to repeat the draw, and its frame; a token, if given, becomes its id."""
    return QuerySample.objects.create(
        uuid=token or uuid4(),
        collection=log.collection,
        log_name=log.name,
        log_sha256=log.sha256,
        method=method,
        seed=seed,
        parameters=parameters,
        frame=_frame(frame, tiers),
        curve=[list(point) for point in tiers.curve],
    )


def sampled(tiers: TierCut, method: str, sizes: Mapping[str, int], n: int | None, seed: int) -> Sample:
    """Draw with one of the two methods."""
    if method == STRATIFIED:
        return draw_stratified(tiers, sizes, seed)
    if method == PPS:
        return draw_pps(tiers, n or sum(sizes.values()), seed)
    raise NotValid(f"Unknown sampling method {method!r}.", {"method": f"Use {STRATIFIED} or {PPS}."})


def _frame(frame: CountedLog, tiers: TierCut) -> dict[str, Any]:
    return {
        "distinct": len(frame.queries),
        "searches": frame.traffic,
        "first": frame.first.isoformat() if frame.first else None,
        "last": frame.last.isoformat() if frame.last else None,
        "tiers": {tier.name: {"queries": tier.queries, "searches": tier.traffic} for tier in tiers.tiers},
    }


def add(log: QueryLog, record: QuerySample, sample: Sample) -> list[Query]:
    """Store the drawn queries. A query with an existing text keeps its id and gets the new design."""
    collection = log.collection
    raw = raw_rows(log, sample.queries)
    known = {query.text: query for query in collection.queries.all()}
    taken = set(collection.queries.values_list("query_id", flat=True))
    new: list[Query] = []
    changed: list[Query] = []
    for drawn in sample.queries:
        query = known.get(drawn.query.text)
        if query is None:
            own = issued_id(drawn, raw.get(drawn.query.raw), taken)
            query = Query(collection=collection, query_id=own, text=drawn.query.text)
            new.append(query)
        else:
            changed.append(query)
        query.tier, query.probability, query.weight = drawn.tier, drawn.probability, drawn.weight
        query.frequency, query.clients, query.sample = drawn.query.frequency, drawn.query.clients, record
        query.raw_row = raw.get(drawn.query.raw)
    Query.objects.bulk_create(new, batch_size=500)
    Query.objects.bulk_update(changed, DRAWN, batch_size=500)
    return new


def raw_rows(log: QueryLog, drawn: Iterable[SampledQuery]) -> dict[object, dict[str, Any]]:
    """Return the log row stored with each drawn query, by the value of its ``raw``."""
    lines = [one.query.raw for one in drawn if isinstance(one.query.raw, int)]
    return {line: row for line, cells in rows_on(log, lines).items() if (row := _raw(cells)) is not None}


def issued_id(drawn: SampledQuery, row: Mapping[str, Any] | None, taken: set[str]) -> str:
    """Return the query id from the log or the draw, and add it to ``taken``."""
    brought = (row or {}).get("query_id", "")
    if brought and brought in taken:
        fault = (
            f"The log gives “{drawn.query.text}” the id {brought}, which another query of the collection already has."
        )
        raise Conflict(f"{fault} Rename one of them, or remove the column query_id from the log.")
    own = brought or drawn.query_id
    if own in taken:
        own = numbered_ids([drawn.query.text], taken, of=own)[drawn.query.text]
    taken.add(own)
    return own


def _raw(row: Any) -> dict[str, Any] | None:
    """Return the log row to store, without the client id, which the collection does not need."""
    if not is_dataclass(row) or isinstance(row, type):
        return None
    known = {name: value for name, value in asdict(row).items() if value not in ("", None)}
    return {name: value for name, value in known.items() if name not in ("client_id", "line")}


def worth(samples: Iterable[QuerySample]) -> dict[int, float]:
    """Return the effective sample size of each draw, over the queries that still belong to it."""
    parts: dict[int, list[float]] = {}
    for sample, weight, probability in Query.objects.filter(
        sample__in=list(samples), weight__isnull=False, probability__isnull=False
    ).values_list("sample", "weight", "probability"):
        parts.setdefault(sample, []).append(weight / probability)
    return {sample: size for sample, of in parts.items() if (size := effective_size(of)) is not None}
