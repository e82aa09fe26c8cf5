"""Output of ``assay pool``: the pool as CSV and JSON, and a summary of the judging effort."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from assay.cli.output.text_table import counted
from assay.core.errors import NotValid
from assay.strategies.rating_budget import ASSUMED_SECONDS, Effort

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.strategies.chosen_pairs import Pool
    from assay.strategies.pooled_pair import PairCopy

COLUMNS = ("query_id", "doc_id", "rank", "runs", "why")


def as_csv(pool: Pool, batch: int, *, copies: bool = False) -> str:
    """Return the pool as CSV; a residual stratum and duplicates add a column each."""
    from assay.core.csv_cells import csv_row, escape

    more = ["probability"] if pool.residual else []
    more += ["copies"] if copies else []
    lines = [csv_row([*COLUMNS, *more])]
    for pair in pool.handed_out(batch):
        rank = "" if pair.best_rank is None else str(pair.best_rank)
        names = escape(";".join(name for name, _ in pair.runs))
        probability = [repr(pair.probability)] if pool.residual else []
        others = [escape(_joined(pair.copies))] if copies else []
        cells = [escape(pair.query_id), escape(pair.doc_id), rank, names, pair.why]
        lines.append(csv_row([*cells, *probability, *others]))
    return "".join(lines)


def _joined(copies: Sequence[PairCopy]) -> str:
    """Return the ids of the copies in one cell, joined like run names."""
    if odd := next((copy.doc_id for copy in copies if ";" in copy.doc_id), None):
        raise NotValid(f"document {odd!r} contains ';', which separates copies in CSV; use --format json")
    return ";".join(copy.doc_id for copy in copies)


def as_json(pool: Pool, inputs: Sequence[tuple[str, Report]], args: argparse.Namespace) -> str:
    """Return the pool as JSON, with its settings and preview."""
    from assay.strategies.pool_preview import preview

    document = {
        "strategy": pool.strategy,
        "params": {name: value for name, value in pool.params.items() if name != "pairs"},
        "by": args.by,
        "seed": pool.seed,
        "budget": pool.budget,
        "total": pool.total,
        "residual": pool.residual,
        "batch": args.batch,
        "relevant_from": args.relevant_from,
        "duplicates": args.duplicates,
        "runs": [
            {"name": name, "path": report.path, "sha256": report.sha256}
            for name, report in sorted(inputs, key=lambda each: each[0].encode())
        ],
        "judged": pool.judged,
        "over_budget": pool.over_budget,
        "preview": asdict(preview(pool)),
        "pairs": [
            {"query_id": pair.query_id, "doc_id": pair.doc_id, **pair.as_json()} for pair in pool.handed_out(args.batch)
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def print_summary(pool: Pool, args: argparse.Namespace) -> None:
    """Print a summary of the pool and the judging effort on standard error."""
    from assay.strategies.pool_preview import FEW, advised_depth, preview

    summary = preview(pool)
    lines = [
        f"{counted(summary.pairs, 'pair')} for {counted(summary.queries, 'query', 'queries')}, {summary.smallest} "
        f"to {summary.largest} per query"
    ]
    if summary.share_in_all is not None:
        lines.append(
            f"  all {counted(len(pool.runs), 'run')} share {counted(summary.in_all, 'pair')} "
            f"({summary.share_in_all:.0%})"
        )
    lines += [
        f"  {system.name}: {counted(system.pairs, 'pair')}, {system.unique} of them unique"
        for system in summary.systems
    ]
    if summary.differing > FEW:
        lines.append(f"  {summary.differing} systems are distinct")
    if advised := advised_depth(pool.strategy, pool.params, summary.differing):
        lines.append(f"  with more than {FEW} distinct systems, use depth {advised[0]} to {advised[1]}")
    if summary.copies:
        copies = counted(summary.copies, "duplicate")
        lines.append(f"  judged once: {copies} in {counted(summary.groups, 'group')}")
    if args.hours is not None:
        effort = Effort(summary.pairs, args.raters or 1, args.ratings or 1, args.seconds or ASSUMED_SECONDS)
        lines.append(
            f"  {counted(effort.ratings, 'rating')}, {counted(round(effort.minutes_each), 'minute')} for each rater"
        )
    if summary.residual:
        lines.append(f"  residual stratum: {counted(summary.residual, 'pair')}, drawn with seed {pool.seed}")
    if pool.judged:
        lines.append(f"  left out, already judged: {pool.judged}")
    if pool.over_budget:
        lines.append(f"  left out, beyond the budget: {pool.over_budget}")
    sys.stderr.write("\n".join(lines) + "\n")
