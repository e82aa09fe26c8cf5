"""Agreement within each query and each tier of a ratings file, with tiers read from a queries.csv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs.files import print_warnings
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.coefficients.by_group import GroupAgreement
    from assay.coefficients.grade_table import GradeTable


def tiers_of(path: str) -> dict[str, str]:
    """Read the tier of each query from a queries.csv."""
    from assay.formats import FORMATS

    read = FORMATS["queries-csv"].read(Path(path), path=path)
    read.report.raise_if_errors()
    print_warnings([read.report])
    return {row.query_id: row.tier for row in read.rows if row.tier}


def groups(
    table: GradeTable, values: Sequence[int], parts: set[str], tiers: Mapping[str, str], bootstrap: int, seed: int
) -> dict[str, list[GroupAgreement]]:
    """Compute the agreement within each query and each tier, for the requested parts."""
    from assay.coefficients.by_group import by_query, by_tier

    agreements = {}
    if "query" in parts:
        agreements["query"] = by_query(table, values)
    if "tier" in parts:
        without = [query for query in table.query_ids if query not in tiers]
        if without:
            raise NotValid(f"the query {without[0]!r} has no tier in --queries; --by tier needs a tier for each query")
        agreements["tier"] = by_tier(
            table, [tiers[query] for query in table.query_ids], values, resamples=bootstrap, seed=seed
        )
    return agreements
