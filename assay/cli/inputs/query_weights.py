"""Sampling design of the queries in a queries.csv: weight, inclusion probability and tier."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs.files import print_warnings, warn_no_effect
from assay.core.errors import NotValid, UnreadableInput

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.formats.reader import Read
    from assay.formats.row_types import QueryRow
    from assay.scoring.results import SamplingDesign


def design_of(args: argparse.Namespace) -> SamplingDesign | None:
    """Return the design of ``--weights``, if given; a ``--design`` without it has no effect."""
    if not args.weights:
        if args.design:
            warn_no_effect(f"--design {args.design}", "it needs --weights FILE")
        return None
    design, report = read_design(args.weights, sampled=args.design != "none", by_tier=False)
    print_warnings([report])
    return design


def read_design(path: str, *, sampled: bool, by_tier: bool) -> tuple[SamplingDesign, Report]:
    """Read weights, inclusion probabilities and tiers."""
    from assay.scoring.results import SamplingDesign, strata_of_rows

    read = _read(path).strict()
    rows: Sequence[QueryRow] = read.rows
    weighted = any(row.weight is not None for row in rows) or not by_tier
    tiers = {row.query_id: row.tier for row in rows if row.tier}
    if by_tier and len(tiers) < len(rows):
        row = next(row for row in rows if not row.tier)
        raise UnreadableInput(
            path, row.line, f"the query {row.query_id!r} has no tier", "--by tier needs a tier for each query"
        )
    try:
        strata, outside = strata_of_rows(rows)
        if outside:
            row = next(row for row in rows if row.query_id == outside[0])
            raise UnreadableInput(
                path,
                row.line,
                f"the query {row.query_id!r} has no stratum, but other queries do",
                "give every query a stratum, or none",
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
        raise NotValid(f"{path}: {error} (remove --design none)") from error
    _warn_unequal_probabilities(path, design)
    return design, read.report


def _read(path: str) -> Read[QueryRow]:
    from assay.formats import FORMATS
    from assay.formats.reader import Read
    from assay.formats.text_lines import reusable_source

    source = reusable_source(Path(path))
    try:
        return FORMATS["queries-csv"].read(source, path=path)
    except UnreadableInput as error:
        if error.code != "F04":
            raise
    # Weights need only ids: for a file without query texts, the ids are read as texts.
    read = FORMATS["queries-csv"].read(source, path=path, columns={"query": "query_id", "query_id": ""})
    return Read([replace(row, query_id=row.query) for row in read.rows], read.report)


def _weight(path: str, row: QueryRow) -> float:
    if row.weight is None or row.weight < 0:
        what = "no weight" if row.weight is None else f"the negative weight {row.weight:g}"
        raise UnreadableInput(
            path, row.line, f"the query {row.query_id!r} has {what}", "the weight is a share of traffic"
        )
    return row.weight


def _probabilities(path: str, rows: Sequence[QueryRow], sampled: bool) -> dict[str, float]:
    probabilities = {}
    for row in rows:
        if row.probability is None and not sampled:
            continue
        if row.probability is None or not 0 < row.probability <= 1:
            what = "no probability" if row.probability is None else f"the probability {row.probability:g}"
            need = (
                "expected an inclusion probability above 0 and up to 1, because a weight alone counts the "
                "traffic twice if queries were drawn in proportion to it. Add --design none if the queries were "
                "not sampled"
            )
            raise UnreadableInput(path, row.line, f"the query {row.query_id!r} has {what}", need)
        probabilities[row.query_id] = row.probability
    return probabilities


def _warn_unequal_probabilities(path: str, design: SamplingDesign) -> None:
    """Print a warning if ``--design none`` ignores unequal inclusion probabilities."""
    if not design.sampled and design.weights and len(set(design.probabilities.values())) > 1:
        sys.stderr.write(
            f"note: {path}: --design none ignores the unequal inclusion probabilities; the weighted mean "
            "describes only these queries, not the traffic they were drawn from\n"
        )
