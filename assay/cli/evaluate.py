"""The command ``assay evaluate``: score runs against qrels."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import add_out, named_runs, stdin_once, tell_profile, tell_unreached, tell_warnings, write_out
from assay.cli.no_effect import seed_of, tell_no_effect
from assay.cli.scale import scale_values
from assay.cli.score_output import FORMATS
from assay.cli.table_formats import DESIGN_HELP, MISSING_HELP, QRELS_HELP, RUN_HELP, add_table_formats, read_labels
from evaluation.metrics import DEFAULT_METRICS, TABLE
from evaluation.reports.scores import ScoreReport
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from evaluation.metrics.design import SamplingDesign
    from judgments.core.report import Report

NAME = "evaluate"
EXAMPLE = "assay evaluate qrels.txt bm25.run neural.run -m nDCG@10 -m 'P@5,10 AP' --format json"

CI_METHOD = "percentile"


# The other formats have no place for diagnostics.
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
    parser.add_argument("--per-query", action="store_true", help="also print the value of each query")
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=MISSING_HELP)
    parser.add_argument("--condensed", action="store_true", help="drop unjudged documents before scoring")
    parser.add_argument("--ci", metavar="LEVEL", type=float, help="interval over queries on every mean, such as 0.95")
    parser.add_argument(
        "--ci-method", choices=["percentile", "bca", "t"], help="how --ci is found; default: percentile"
    )
    parser.add_argument("--scale", metavar="MIN:MAX", help="the scale of the grades, for ERR and its like")
    parser.add_argument("--seed", type=int, help="seed of the bootstrap, default 0")
    parser.add_argument("--weights", metavar="FILE", help="queries.csv with weight and probability: weighted means")
    parser.add_argument("--design", choices=["sampled", "none"], help=DESIGN_HELP)
    parser.add_argument("--by", choices=["tier"], help="also break down by the tiers of --weights FILE")
    parser.add_argument("--profile", action="store_true", help="tell on standard error where the time goes")
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, score, print."""
    runs = named_runs(args.runs)
    _check(args, runs)
    seed, args.design = _settled(args)
    from evaluation.metrics.names import parse_metrics

    metrics = parse_metrics(args.metric or DEFAULT_METRICS)
    if args.condensed:
        metrics = tuple({metric.condensed().name: metric.condensed() for metric in metrics}.values())
    from assay.cli.machine_note import about_qrels, tell_machine
    from assay.cli.progress import progress
    from evaluation.metrics.evaluate import evaluate
    from evaluation.metrics.profile import Profile
    from judgments.formats.tables import open_run

    profile = Profile()
    # JSON alone tells the hashes of files.
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
    tell_warnings([report, *(file.report for file in files)])
    if args.format not in TELL_RANGES:
        tell_machine(qrels, report)
    tell_unreached(result)
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
        tell_profile(profile.seconds)
    return 0


def _check(args: argparse.Namespace, runs: list[tuple[str, str]]) -> None:
    stdin_once([args.qrels, *(path for _, path in runs), args.weights or ""])
    if args.ci is not None and not 0 < args.ci < 1:
        raise NotValid(f"--ci is a level between 0 and 1, such as 0.95, not {args.ci:g}")
    if args.ci_method and args.ci is None:
        raise NotValid(f"--ci-method {args.ci_method} needs the level of the interval too, such as --ci 0.95")
    if args.by and not args.weights:
        raise NotValid("--by tier needs --weights FILE, a queries.csv with the column tier")


def _settled(args: argparse.Namespace) -> tuple[int, str]:
    """The seed and the design, with a word about those that were given in vain."""
    drawn = args.ci is not None and (args.ci_method or CI_METHOD) != "t"
    reason = "" if drawn else "Student's t draws nothing" if args.ci is not None else "without --ci nothing is drawn"
    if args.design and not args.weights:
        tell_no_effect(f"--design {args.design}", "it says how --weights FILE is read, and there is none")
    return seed_of(args.seed, reason), args.design or "sampled"


def _design(args: argparse.Namespace) -> SamplingDesign | None:
    if not args.weights:
        return None
    from assay.cli.query_weights import read_design

    design, report = read_design(args.weights, sampled=args.design == "sampled", by_tier=args.by == "tier")
    tell_warnings([report])
    return design


def _about(report: Report) -> dict[str, Any]:
    return {"path": report.path, "sha256": report.sha256}
