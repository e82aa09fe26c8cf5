"""Which pairs of query and document should people judge, given these runs?"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import add_out, named, stdin_once, tell_warnings, write_out
from assay.cli.member_options import add_member_options, member_options
from judgments.core.errors import NotValid
from pooling.strategies import STRATEGIES

if TYPE_CHECKING:
    from judgments.core.report import Report
    from judgments.core.run import Run
    from pooling.strategies.pool import Pool

NAME = "pool"
HELP = "choose the pairs to judge from the runs of several systems"
EXAMPLE = "assay pool bm25.run neural.run --strategy depth --depth 10 --out pool.csv"
COLUMNS = ("query_id", "doc_id", "rank", "runs", "why")


@dataclass(frozen=True)
class _Input:
    """One run with what its file said."""

    run: Run
    report: Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; those of the strategies come from their own declarations."""
    parser.add_argument("runs", metavar="RUN", nargs="*", help="TREC runs; NAME=PATH gives a name, - is standard input")
    parser.add_argument("--strategy", metavar="NAME", default="depth", help=f"{', '.join(STRATEGIES)}; default depth")
    add_member_options(parser, STRATEGIES)
    parser.add_argument("--pairs", metavar="FILE", help="the pairs of --strategy list: CSV with query_id,doc_id")
    parser.add_argument(
        "--by",
        choices=["score", "rank"],
        default="score",
        help="order of a run: by score as trec_eval does, or by rank",
    )
    parser.add_argument("--budget", type=int, metavar="N", help="at most N of the strategy's pairs per query")
    parser.add_argument("--qrels", metavar="FILE", help="leave out what is judged here; it spends no budget")
    parser.add_argument(
        "--residual", type=int, default=0, metavar="N", help="N more per query, drawn from what the pool leaves out"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of every random choice; default 0")
    parser.add_argument("--format", choices=["csv", "json"], default="csv", help="default csv, one line a pair")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read the runs, choose, write, and say what the pool looks like."""
    stdin_once([path for path in (*(named(each)[1] for each in args.runs), args.qrels, args.pairs) if path])
    member = STRATEGIES[args.strategy]
    from pooling.strategies.pool import build_pool

    inputs = [_read_run(argument, args.by) for argument in args.runs]
    judged, reports = _judged(args.qrels)
    tell_warnings([*(each.report for each in inputs), *reports])
    pool = build_pool(
        [each.run for each in inputs],
        member.name,
        _given(args),
        seed=args.seed,
        budget=args.budget,
        residual=args.residual,
        judged=judged,
    )
    write_out(_as_json(pool, inputs, args.by) if args.format == "json" else _as_csv(pool), args.out)
    _tell(pool)
    return 0


def _given(args: argparse.Namespace) -> dict[str, Any]:
    given = member_options(args, STRATEGIES)
    if args.pairs is not None:
        given["pairs"] = _read_pairs(args.pairs)
    elif args.strategy == "list":
        raise NotValid("--strategy list needs --pairs FILE, a CSV with query_id,doc_id")
    return given


def _read_run(argument: str, by: str) -> _Input:
    from judgments.formats.trec_run import load_run_report

    name, path = named(argument)
    if ";" in name:
        raise NotValid(f"the run's name {name!r} holds ';', which parts names in the pool; give another with NAME=PATH")
    if by == "score":
        return _Input(*load_run_report(Path(path), path, name))
    return _by_rank(name, path)


def _by_rank(name: str, path: str) -> _Input:
    from judgments.formats import trec_run
    from pooling.strategies.ranking import by_rank

    found = trec_run.read(Path(path), path=path)
    found.report.raise_if_errors()
    rows = [(row.query_id, row.doc_id, float("inf") if row.rank is None else row.rank) for row in found.rows]
    return _Input(by_rank(rows, name), found.report)


def _read_pairs(path: str) -> list[tuple[str, str]]:
    from judgments.formats import FORMATS

    found = FORMATS["pairs-csv"].read(Path(path), path=path)
    found.report.raise_if_errors()
    return [(row.query_id, row.doc_id) for row in found.rows]


def _judged(path: str | None) -> tuple[frozenset[tuple[str, str]], list[Report]]:
    if path is None:
        return frozenset(), []
    from judgments.formats.trec_qrels import load_qrels_report

    qrels, report = load_qrels_report(Path(path), path)
    return frozenset((query_id, doc_id) for query_id, doc_id, _ in qrels.rows()), [report]


def _as_csv(pool: Pool) -> str:
    """The five columns of the contract; a residual stratum needs a sixth, its inclusion probability."""
    from judgments.core.cells import csv_row, escape

    more = ["probability"] if pool.residual else []
    lines = [csv_row([*COLUMNS, *more])]
    for pair in pool.pairs:
        rank = "" if pair.best_rank is None else str(pair.best_rank)
        names = escape(";".join(name for name, _ in pair.runs))
        probability = [repr(pair.probability)] if pool.residual else []
        lines.append(csv_row([escape(pair.query_id), escape(pair.doc_id), rank, names, pair.why, *probability]))
    return "".join(lines)


def _as_json(pool: Pool, inputs: list[_Input], by: str) -> str:
    from pooling.strategies.preview import preview

    told = {
        "strategy": pool.strategy,
        "params": {name: value for name, value in pool.params.items() if name != "pairs"},
        "by": by,
        "seed": pool.seed,
        "budget": pool.budget,
        "residual": pool.residual,
        "runs": [
            {"name": each.run.name, "path": each.report.path, "sha256": each.report.sha256}
            for each in sorted(inputs, key=lambda each: each.run.name.encode())
        ],
        "judged": pool.judged,
        "over_budget": pool.over_budget,
        "preview": asdict(preview(pool)),
        "pairs": [{"query_id": pair.query_id, "doc_id": pair.doc_id, **pair.as_json()} for pair in pool.pairs],
    }
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _tell(pool: Pool) -> None:
    from pooling.strategies.preview import preview

    found = preview(pool)
    lines = [f"{found.pairs} pairs for {found.queries} queries, {found.smallest} to {found.largest} each"]
    if found.share_in_all is not None:
        lines.append(f"  all {len(pool.runs)} runs share {found.in_all} pairs ({found.share_in_all:.0%})")
    lines += [f"  {system.name}: {system.pairs} pairs, {system.unique} of them alone" for system in found.systems]
    if found.residual:
        lines.append(f"  residual stratum: {found.residual} pairs, drawn with seed {pool.seed}")
    if pool.judged:
        lines.append(f"  left out, judged already: {pool.judged}")
    if pool.over_budget:
        lines.append(f"  left out, over the budget: {pool.over_budget}")
    sys.stderr.write("\n".join(lines) + "\n")
