"""With which weight and tier does each query of a queries.csv enter the mean?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.files import STDIN
from judgments.core.errors import UnreadableInput

if TYPE_CHECKING:
    from evaluation.metrics.design import SamplingDesign
    from judgments.core.report import Report
    from judgments.formats.reading import Read
    from judgments.formats.rows import QueryRow


def read_design(path: str, *, sampled: bool, by_tier: bool) -> tuple[SamplingDesign, Report]:
    """Read weights, inclusion probabilities and tiers.

    Parameters
    ----------
    path : str
        A queries.csv, ``-`` for standard input.
    sampled : bool
        Whether the queries are a sample, whose weights are divided by the inclusion probability. False counts every
        query as surely drawn.
    by_tier : bool
        Whether the breakdown by tier is wanted; then weights may be missing altogether.

    Returns
    -------
    tuple of SamplingDesign and Report
        The design, and what the reader found in the file.

    Raises
    ------
    UnreadableInput
        When a weight, probability or tier that is needed is missing or out of range.
    """
    from evaluation.metrics.design import SamplingDesign

    read = _read(path)
    read.report.raise_if_errors()
    rows: Sequence[QueryRow] = read.rows
    weighted = any(row.weight is not None for row in rows) or not by_tier
    weights = {row.query_id: _weight(path, row, sampled) for row in rows} if weighted else {}
    tiers = {row.query_id: row.tier for row in rows if row.tier}
    if by_tier and len(tiers) < len(rows):
        row = next(row for row in rows if not row.tier)
        raise UnreadableInput(path, row.line, f"the query {row.query_id!r} has no tier", "--by tier needs one for each")
    return SamplingDesign(weights, tiers if len(tiers) == len(rows) else {}, by_tier), read.report


def _read(path: str) -> Read[QueryRow]:
    from judgments.formats import FORMATS
    from judgments.formats.reading import Read

    source = sys.stdin.buffer.read() if path == STDIN else Path(path)
    try:
        return FORMATS["queries-csv"].read(source, path=path)
    except UnreadableInput as error:
        if error.code != "F04":
            raise
    # Weights are about ids: a file without the texts of the queries will do. Its ids are read as if they were texts.
    read = FORMATS["queries-csv"].read(source, path=path, columns={"query": "query_id", "query_id": ""})
    return Read([replace(row, query_id=row.query) for row in read.rows], read.report)


def _weight(path: str, row: QueryRow, sampled: bool) -> float:
    if row.weight is None or row.weight < 0:
        what = "no weight" if row.weight is None else f"the negative weight {row.weight:g}"
        raise UnreadableInput(path, row.line, f"the query {row.query_id!r} has {what}", "weight is a share of traffic")
    if not sampled:
        return row.weight
    if row.probability is None or not 0 < row.probability <= 1:
        told = "no probability" if row.probability is None else f"the probability {row.probability:g}"
        need = "expected an inclusion probability above 0 and up to 1, or --design none where nothing was sampled"
        raise UnreadableInput(path, row.line, f"the query {row.query_id!r} has {told}", need)
    return row.weight / row.probability
