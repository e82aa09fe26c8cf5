"""How good are these runs, according to these qrels?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import add_out, named, stdin_once, tell_warnings, write_out
from assay.cli.score_output import FORMATS, Output
from evaluation.metrics import DEFAULT_METRICS, TABLE
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from evaluation.metrics.design import SamplingDesign
    from judgments.core.report import Report
    from judgments.core.run import Run

NAME = "evaluate"
HELP = "score runs against qrels: means, values per query, intervals, diagnostics"
EXAMPLE = "assay evaluate qrels.txt bm25.run neural.run -m nDCG@10 -m 'P@5,10 AP' --format json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("qrels", metavar="QRELS", help="the labels, as TREC qrels; - is standard input, .gz is read")
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="a TREC run; NAME=PATH names it, otherwise the file does"
    )
    parser.add_argument(
        "-m",
        "--metric",
        metavar="METRIC",
        action="append",
        help=f"such as nDCG@10, P(rel=2)@5 or a quoted list; known: {', '.join(TABLE)}; "
        f"default: {' '.join(DEFAULT_METRICS)}",
    )
    parser.add_argument("--per-query", action="store_true", help="also print the value of each query")
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    parser.add_argument(
        "--missing", choices=["zero", "skip"], default="zero", help="a judged query that a run does not answer"
    )
    parser.add_argument("--condensed", action="store_true", help="drop unjudged documents before scoring")
    parser.add_argument("--ci", metavar="LEVEL", type=float, help="bootstrap interval over queries, such as 0.95")
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap, default 0")
    parser.add_argument("--weights", metavar="FILE", help="queries.csv with weight and probability: weighted means")
    parser.add_argument(
        "--design", choices=["sampled", "none"], default="sampled", help="none: the file has no probabilities"
    )
    parser.add_argument("--by", choices=["tier"], help="also break down by the tiers of --weights FILE")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, score, print."""
    runs = [named(argument) for argument in args.runs]
    _check(args, runs)
    from evaluation.metrics.names import parse_metrics

    metrics = parse_metrics(args.metric or DEFAULT_METRICS)
    if args.condensed:
        metrics = tuple({metric.condensed().name: metric.condensed() for metric in metrics}.values())
    from assay.cli.progress import progress
    from evaluation.metrics.evaluate import evaluate
    from judgments.formats.trec_qrels import load_qrels_report

    qrels, report = load_qrels_report(Path(args.qrels), args.qrels)
    tables, reports = _read(runs)
    design = _design(args)
    watch = progress(len(tables), "scoring")
    result = evaluate(qrels, tables, metrics, args.missing, level=args.ci, seed=args.seed, design=design, watch=watch)
    tell_warnings([report, *reports])
    output = Output(
        evaluation=result,
        trec_names={metric.name: metric.trec_name for metric in metrics},
        qrels=_about(report) | {"queries": qrels.queries, "judgments": len(qrels)},
        files=[_about(of_run) for of_run in reports],
        settings={
            "missing": args.missing,
            "condensed": args.condensed,
            "level": args.ci,
            "seed": args.seed,
            "design": args.design if args.weights else None,
            "effective_queries": result.effective_queries,
            "metrics": {metric.name: {"cutoff": metric.cutoff, **metric.parameters} for metric in metrics},
        },
        per_query=args.per_query,
    )
    write_out(FORMATS[args.format](output), args.out)
    return 0


def _check(args: argparse.Namespace, runs: list[tuple[str, str]]) -> None:
    stdin_once([args.qrels, *(path for _, path in runs), args.weights or ""])
    names = [name for name, _ in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise NotValid(f"two runs are named {twice!r}; give one of them another name, as in NAME=PATH")
    if args.ci is not None and not 0 < args.ci < 1:
        raise NotValid(f"--ci is a level between 0 and 1, such as 0.95, not {args.ci:g}")
    if args.by and not args.weights:
        raise NotValid("--by tier needs --weights FILE, a queries.csv with the column tier")


def _read(runs: list[tuple[str, str]]) -> tuple[list[Run], list[Report]]:
    from judgments.formats.trec_run import load_run_report

    read = [load_run_report(Path(path), path, name) for name, path in runs]
    return [table for table, _ in read], [report for _, report in read]


def _design(args: argparse.Namespace) -> SamplingDesign | None:
    if not args.weights:
        return None
    from assay.cli.query_weights import read_design

    design, report = read_design(args.weights, sampled=args.design == "sampled", by_tier=args.by == "tier")
    tell_warnings([report])
    return design


def _about(report: Report) -> dict[str, Any]:
    return {"path": report.path, "sha256": report.sha256}
