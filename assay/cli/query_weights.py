"""Sampling design of the queries in a queries.csv: weight, inclusion probability and tier."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from judgments.core.errors import NotValid, UnreadableInput

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
        Whether the queries are a sample, whose weights are divided by the inclusion probability. False says that they
        are all there are; probabilities in the file are then not used, but may refute it.
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
    NotValid
        When the weights would count the traffic a second time; see `SamplingDesign`.
    """
    from evaluation.metrics.design import SamplingDesign
    from evaluation.metrics.strata import strata_of_rows

    read = _read(path)
    read.report.raise_if_errors()
    rows: Sequence[QueryRow] = read.rows
    weighted = any(row.weight is not None for row in rows) or not by_tier
    tiers = {row.query_id: row.tier for row in rows if row.tier}
    if by_tier and len(tiers) < len(rows):
        row = next(row for row in rows if not row.tier)
        raise UnreadableInput(path, row.line, f"the query {row.query_id!r} has no tier", "--by tier needs one for each")
    try:
        strata, outside = strata_of_rows(rows)
        if outside:
            row = next(row for row in rows if row.query_id == outside[0])
            raise UnreadableInput(
                path,
                row.line,
                f"the query {row.query_id!r} has no stratum, and others do",
                "give one to each, or to none",
            )
        design = SamplingDesign(
            weights={row.query_id: _weight(path, row) for row in rows} if weighted else {},
            probabilities=_probabilities(path, rows, sampled) if weighted else {},
            tiers=tiers if len(tiers) == len(rows) else {},
            by_tier=by_tier,
            sampled=sampled,
            **(strata if weighted and sampled else {}),
        )
    except UnreadableInput:
        raise
    except NotValid as error:
        raise NotValid(f"{path}: {error} (leave --design none out)") from error
    _tell_doubt(path, design)
    return design, read.report


def _read(path: str) -> Read[QueryRow]:
    from judgments.formats import FORMATS
    from judgments.formats.decoding import kept
    from judgments.formats.reading import Read

    source = kept(Path(path))
    try:
        return FORMATS["queries-csv"].read(source, path=path)
    except UnreadableInput as error:
        if error.code != "F04":
            raise
    # Weights are about ids: a file without the texts of the queries will do. Its ids are read as if they were texts.
    read = FORMATS["queries-csv"].read(source, path=path, columns={"query": "query_id", "query_id": ""})
    return Read([replace(row, query_id=row.query) for row in read.rows], read.report)


def _weight(path: str, row: QueryRow) -> float:
    if row.weight is None or row.weight < 0:
        what = "no weight" if row.weight is None else f"the negative weight {row.weight:g}"
        raise UnreadableInput(path, row.line, f"the query {row.query_id!r} has {what}", "weight is a share of traffic")
    return row.weight


def _probabilities(path: str, rows: Sequence[QueryRow], sampled: bool) -> dict[str, float]:
    found = {}
    for row in rows:
        if row.probability is None and not sampled:
            continue
        if row.probability is None or not 0 < row.probability <= 1:
            told = "no probability" if row.probability is None else f"the probability {row.probability:g}"
            need = (
                "expected an inclusion probability above 0 and up to 1; a bare weight counts the traffic twice where "
                "the queries were drawn in proportion to it. Say --design none where nothing was sampled"
            )
            raise UnreadableInput(path, row.line, f"the query {row.query_id!r} has {told}", need)
        found[row.query_id] = row.probability
    return found


def _tell_doubt(path: str, design: SamplingDesign) -> None:
    """Say it where ``--design none`` passes over unequal probabilities: some queries stand for more than others."""
    if not design.sampled and design.weights and len(set(design.probabilities.values())) > 1:
        sys.stderr.write(
            f"note: {path}: holds unequal inclusion probabilities, which --design none leaves unused; the weighted "
            "mean then speaks for these queries alone, not for the traffic they were drawn from\n"
        )
