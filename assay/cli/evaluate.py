"""The command ``assay evaluate``: score runs against qrels."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.inputs.files import (
    add_out,
    named_runs,
    print_profile,
    print_unreached,
    print_warnings,
    stdin_once,
    write_out,
)
from assay.cli.inputs.qrels import DESIGN_HELP, MISSING_HELP, QRELS_HELP, RUN_HELP, add_table_formats, read_labels
from assay.cli.options.scale import scale_values
from assay.cli.options.unused import seed_of, warn_no_effect
from assay.cli.output.scores import FORMATS
from assay.core.errors import NotValid
from assay.metrics import DEFAULT_METRICS, TABLE
from assay.scoring.score_files import ScoreReport

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.scoring.query_design import SamplingDesign

NAME = "evaluate"
EXAMPLE = "assay evaluate qrels.txt bm25.run neural.run -m nDCG@10 -m 'P@5,10 AP' --format json"

CI_METHOD = "percentile"


# Other formats have no place for diagnostics.
TELL_RANGES = ("table", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="+", help=RUN_HELP)
    parser.add_argument(
        "-m",
        "--metric",
        metavar="METRIC",
        action="append",
        help=f"such as nDCG@10, P(rel=2)@5 or a quoted list; known: {', '.join(TABLE)}; "
        f"default: {' '.join(DEFAULT_METRICS)}",
    )
    parser.add_argument("--per-query", action="store_true", help="also print the scores of each query")
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=MISSING_HELP)
    parser.add_argument("--condensed", action="store_true", help="drop unjudged documents before scoring")
    parser.add_argument(
        "--ci", metavar="LEVEL", type=float, help="print an interval over queries for every mean, such as 0.95"
    )
    parser.add_argument(
        "--ci-method", choices=["percentile", "bca", "t"], help="interval method for --ci; default: percentile"
    )
    parser.add_argument("--scale", metavar="MIN:MAX", help="grade scale, for ERR and similar metrics")
    parser.add_argument("--seed", type=int, help="seed for the bootstrap, default 0")
    parser.add_argument("--weights", metavar="FILE", help="queries.csv with weight and probability, for weighted means")
    parser.add_argument("--design", choices=["sampled", "none"], help=DESIGN_HELP)
    parser.add_argument("--by", choices=["tier"], help="also print scores for each tier in --weights FILE")
    parser.add_argument("--profile", action="store_true", help="print the time of each step to standard error")
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Score the runs and print the result."""
    runs = named_runs(args.runs)
    _check(args, runs)
    seed, args.design = _seed_and_design(args)
    from assay.metrics.metric_names import parse_metrics

    metrics = parse_metrics(args.metric or DEFAULT_METRICS)
    if args.condensed:
        metrics = tuple({metric.condensed().name: metric.condensed() for metric in metrics}.values())
    from assay.cli.output.machine_labels import about_qrels, print_machine_note
    from assay.cli.output.progress import progress
    from assay.formats.qrels_and_runs import open_run
    from assay.scoring.evaluate import evaluate
    from assay.scoring.timing import Profile

    profile = Profile()
    # Only JSON contains the hashes of files.
    hashed = args.format == "json"
    with profile.part("reading"):
        qrels, report = read_labels(args, hashed=hashed)
    files = [open_run(Path(path), path, name, args.run_format, hashed=hashed) for name, path in runs]
    result = evaluate(
        qrels,
        files,
        metrics,
        args.missing,
        level=args.ci,
        method=args.ci_method or CI_METHOD,
        seed=seed,
        design=_design(args),
        scale_top=scale_values(args.scale)[-1] if args.scale else None,
        ranges=args.format in TELL_RANGES,
        watch=progress(len(files), "scoring"),
        profile=profile,
        processes=True,
    )
    print_warnings([report, *(file.report for file in files)])
    if args.format not in TELL_RANGES:
        print_machine_note(qrels, report)
    print_unreached(result)
    scored = ScoreReport(
        evaluation=result,
        trec_names={metric.name: metric.trec_name for metric in metrics},
        qrels=about_qrels(qrels, report),
        files=[_about(file.report) for file in files],
        settings={
            "missing": args.missing,
            "condensed": args.condensed,
            "subtopics": args.subtopics,
            "level": args.ci,
            "method": (args.ci_method or CI_METHOD) if args.ci is not None else None,
            "seed": seed,
            "scale": args.scale,
            "design": args.design if args.weights else None,
            "effective_queries": result.effective_queries,
            "metrics": {metric.name: metric.settings for metric in result.bound},
            **({"no_grade_reaches": dict(result.unreached)} if result.unreached else {}),
        },
        per_query=args.per_query,
    )
    with profile.part("writing"):
        write_out(FORMATS[args.format](scored), args.out)
    if args.profile:
        print_profile(profile.seconds)
    return 0


def _check(args: argparse.Namespace, runs: list[tuple[str, str]]) -> None:
    stdin_once([args.qrels, *(path for _, path in runs), args.weights or ""])
    if args.ci is not None and not 0 < args.ci < 1:
        raise NotValid(f"--ci is {args.ci:g}; use a level between 0 and 1, such as 0.95")
    if args.ci_method and args.ci is None:
        raise NotValid(f"--ci-method {args.ci_method} needs --ci with a level, such as --ci 0.95")
    if args.by and not args.weights:
        raise NotValid("--by tier needs --weights FILE, a queries.csv with a tier column")


def _seed_and_design(args: argparse.Namespace) -> tuple[int, str]:
    """Return the seed and the design, with a note about options that have no effect."""
    drawn = args.ci is not None and (args.ci_method or CI_METHOD) != "t"
    reason = (
        ""
        if drawn
        else "Student's t uses no random draws"
        if args.ci is not None
        else "without --ci there are no random draws"
    )
    if args.design and not args.weights:
        warn_no_effect(f"--design {args.design}", "it needs --weights FILE")
    return seed_of(args.seed, reason), args.design or "sampled"


def _design(args: argparse.Namespace) -> SamplingDesign | None:
    if not args.weights:
        return None
    from assay.cli.inputs.query_weights import read_design

    design, report = read_design(args.weights, sampled=args.design == "sampled", by_tier=args.by == "tier")
    print_warnings([report])
    return design


def _about(report: Report) -> dict[str, Any]:
    return {"path": report.path, "sha256": report.sha256}
