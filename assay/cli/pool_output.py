"""Output of ``assay pool``: the pool as CSV and JSON, and a summary of the judging effort in words."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from assay.cli.text_table import counted
from judgments.core.errors import NotValid
from pooling.strategies.budget import ASSUMED_SECONDS, Effort

if TYPE_CHECKING:
    from judgments.core.report import Report
    from pooling.strategies.chosen import Pool
    from pooling.strategies.pair import PairCopy

COLUMNS = ("query_id", "doc_id", "rank", "runs", "why")


def as_csv(pool: Pool, batch: int, *, copies: bool = False) -> str:
    """The five columns of the contract; a residual stratum and duplicates need a column more each."""
    from judgments.core.cells import csv_row, escape

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
    """The copies' ids in one cell, as the runs' names are."""
    if odd := next((copy.doc_id for copy in copies if ";" in copy.doc_id), None):
        raise NotValid(f"document {odd!r} holds ';', which parts the copies in a CSV; write --format json")
    return ";".join(copy.doc_id for copy in copies)


def as_json(pool: Pool, inputs: Sequence[tuple[str, Report]], args: argparse.Namespace) -> str:
    """Everything that is known of the pool, and how it was chosen."""
    from pooling.strategies.preview import preview

    told = {
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
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def tell(pool: Pool, args: argparse.Namespace) -> None:
    """Say on standard error what the pool looks like, and what judging it takes."""
    from pooling.strategies.preview import FEW, advised_depth, preview

    found = preview(pool)
    lines = [
        f"{counted(found.pairs, 'pair')} for {counted(found.queries, 'query', 'queries')}, {found.smallest} "
        f"to {found.largest} each"
    ]
    if found.share_in_all is not None:
        lines.append(
            f"  all {counted(len(pool.runs), 'run')} share {counted(found.in_all, 'pair')} ({found.share_in_all:.0%})"
        )
    lines += [
        f"  {system.name}: {counted(system.pairs, 'pair')}, {system.unique} of them alone" for system in found.systems
    ]
    if found.differing > FEW:
        lines.append(f"  {found.differing} systems differ")
    if advised := advised_depth(pool.strategy, pool.params, found.differing):
        lines.append(f"  with more than {FEW} systems that differ, depth {advised[0]} to {advised[1]} is advised")
    if found.copies:
        copies = counted(found.copies, "document that says", "documents that say")
        lines.append(
            f"  judged once: {copies} what {'another says' if found.copies == 1 else 'others say'}, "
            f"in {counted(found.groups, 'group')}"
        )
    if args.hours is not None:
        effort = Effort(found.pairs, args.raters or 1, args.ratings or 1, args.seconds or ASSUMED_SECONDS)
        lines.append(
            f"  {counted(effort.ratings, 'rating')}, {counted(round(effort.minutes_each), 'minute')} for each rater"
        )
    if found.residual:
        lines.append(f"  residual stratum: {counted(found.residual, 'pair')}, drawn with seed {pool.seed}")
    if pool.judged:
        lines.append(f"  left out, judged already: {pool.judged}")
    if pool.over_budget:
        lines.append(f"  left out, over the budget: {pool.over_budget}")
    sys.stderr.write("\n".join(lines) + "\n")
