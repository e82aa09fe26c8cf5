"""The sampling design of a snapshot's queries, and the weighted means that it allows.

The design is read from the queries file that was frozen with the labels: tiers and weights that change later change
no score, and ``assay evaluate --weights queries.csv --by tier`` on the exported files gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from assay.core.counted_nouns import agree, amount
from judgments.labels.snapshot_files import queries_of
from judgments.models import Query, QuerySample, Snapshot

if TYPE_CHECKING:
    from assay.formats.row_types import QueryRow
    from assay.scoring.results import SamplingDesign

UNTIERED = "no tier"


@dataclass(frozen=True)
class Drawn:
    """The sampling design behind the scores, with a note."""

    design: SamplingDesign
    judged: int
    weighted: int
    drawn: int
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return the design as it is stored with the scores."""
        return {"judged": self.judged, "weighted": self.weighted, "drawn": self.drawn, "reason": self.reason}


def drawn(snapshot: Snapshot, query_ids: Iterable[str]) -> Drawn:
    """Return the weights and tiers of a snapshot's judged queries."""
    from assay.scoring.results import SamplingDesign, strata_of_rows

    rows = {row.query_id: row for row in queries_of(snapshot)}
    wanted = list(query_ids)
    judged, query_count = [rows[query_id] for query_id in wanted if query_id in rows], len(wanted)
    weights = {row.query_id: row.weight or 0.0 for row in judged if _is_weighted(row)}
    probabilities = {row.query_id: row.probability or 0.0 for row in judged if row.query_id in weights}
    tiers = {row.query_id: row.tier or UNTIERED for row in judged} if any(row.tier for row in judged) else {}
    whole = len(weights) == query_count and any(weights.values())
    reason = "" if whole else _why(query_count, len(weights))
    strata, outside = strata_of_rows(judged)
    if outside and whole:
        whole, reason = (
            False,
            f"query {outside[0]} belongs to no stratum but others do, so its share of the traffic is unknown",
        )
    design = SamplingDesign(
        weights=weights if whole else {},
        probabilities=probabilities if whole else {},
        tiers=tiers if len(tiers) == query_count else {},
        by_tier=bool(tiers),
        **(strata if whole else {}),
    )
    return Drawn(design, query_count, len(weights), _how_many(snapshot, rows), reason)


def _is_weighted(row: QueryRow) -> bool:
    return row.weight is not None and bool(row.probability)


def _how_many(snapshot: Snapshot, query_ids: Iterable[str]) -> int:
    """Return the number of queries in the draws that the snapshot's queries came from."""
    queries = Query.objects.filter(collection=snapshot.collection)
    own = queries.filter(query_id__in=list(query_ids))
    samples = QuerySample.objects.filter(Q(queries__in=own) | Q(places__query__in=own)).distinct()
    return queries.filter(Q(sample__in=samples) | Q(places__sample__in=samples)).distinct().count()


def _why(judged: int, weighted: int) -> str:
    if not weighted:
        return "the queries have no weight and inclusion probability; draw them from a query log to get both"
    if weighted < judged:
        lacking = judged - weighted
        return (
            f"{lacking:,} of {amount(judged, 'judged query', 'judged queries')} "
            f"{agree(lacking, 'has', 'have')} no weight or probability"
        )
    return "all weights are 0"
