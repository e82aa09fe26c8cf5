"""Strata in a queries file: read their shares and check that each query belongs to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid
from assay.scoring.query_design import Place

if TYPE_CHECKING:
    from assay.formats.row_types import QueryRow


def strata_of_rows(rows: Sequence[QueryRow]) -> tuple[dict[str, Any], list[str]]:
    """Read strata, their shares and additional places for `SamplingDesign`."""
    if not any(row.stratum for row in rows):
        return {}, []
    shares: dict[str, float] = {}
    memberships = [(row.query_id, row.stratum, row.share) for row in rows if row.stratum]
    memberships += [(row.query_id, place.stratum, place.share) for row in rows for place in row.also]
    for query_id, name, share in memberships:
        if shares.setdefault(name, share or 0.0) != share:
            raise NotValid(
                f"the stratum {name!r} has the share {shares[name]:g}, but {share or 0:g} at the query "
                f"{query_id!r}; use one share per stratum"
            )
    also = [
        Place(row.query_id, place.stratum, place.tier, place.weight, place.probability)
        for row in rows
        for place in row.also
    ]
    strata = {row.query_id: row.stratum for row in rows if row.stratum}
    return {"strata": strata, "shares": shares, "also": also}, [row.query_id for row in rows if not row.stratum]
