"""The command ``assay compare``: differences between runs, with intervals and significance tests."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.compare_output import FORMATS
from assay.cli.files import add_out, named_runs, stdin_once, tell_unreached, tell_warnings, write_out
from assay.cli.no_effect import tell_no_effect
from assay.cli.scale import scale_values
from assay.cli.table_formats import DESIGN_HELP, MISSING_HELP, QRELS_HELP, RUN_HELP, add_table_formats, read_labels
from evaluation.significance import CORRECTIONS, TESTS
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from evaluation.metrics.design import SamplingDesign
    from evaluation.significance.comparison import Comparison
    from evaluation.significance.plan import Plan
    from judgments.core.qrels import Qrels
    from judgments.core.run import Run

NAME = "compare"
EXAMPLE = "assay compare qrels.txt bm25.run neural.run -m nDCG@10 --baseline bm25"

DEFAULT_METRIC = "nDCG@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="+", help=f"two or more; {RUN_HELP}")
    parser.add_argument(
        "-m",
        "--metric",
        metavar="METRIC",
        action="append",
        help=f"such as nDCG@10; the first one is the primary one, default {DEFAULT_METRIC}",
    )
    parser.add_argument("--baseline", metavar="NAME", help="compare each run with this one; by default all pairs")
    parser.add_argument("--test", choices=list(TESTS), default="randomization", help="default: randomization")
    parser.add_argument(
        "--correction",
        choices=[*CORRECTIONS, "none"],
        help="for the comparisons of one metric; default holm, and none that you may choose for tukey",
    )
    parser.add_argument("--permutations", type=int, metavar="N", help="draws of the test, default 100000")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of test and interval, default 0")
    parser.add_argument("--level", type=float, default=0.95, help="of the interval of the difference, default 0.95")
    parser.add_argument(
        "--interval", choices=["bootstrap", "t"], help="how it is found; default: t for --test t, else bootstrap"
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, help="runs whose corrected p is below differ, default 0.05"
    )
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=MISSING_HELP)
    parser.add_argument(
        "--weights", metavar="FILE", help="queries.csv with weight and probability: weighted differences"
    )
    parser.add_argument("--design", choices=["sampled", "none"], help=DESIGN_HELP)
    parser.add_argument("--scale", metavar="MIN:MAX", help="the scale of the grades, for ERR and its like")
    parser.add_argument(
        "--turning",
        action="store_true",
        help="also tell for each pair how few unjudged pairs could turn its decision, under the primary metric",
    )
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="of a rater for one judgment, for --turning, default 20"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, score, compare, print."""
    runs = named_runs(args.runs)
    stdin_once([args.qrels, *(path for _, path in runs), args.weights or ""])
    plan = _plan(args)
    _check_turning(args)
    from assay.cli.machine_note import about_qrels, tell_machine
    from evaluation.decisions.doubts import open_pairs
    from evaluation.metrics.evaluate import evaluate
    from evaluation.significance.compare import compare_scores
    from judgments.formats.tables import open_run

    top = scale_values(args.scale)[-1] if args.scale else None
    qrels, report = read_labels(args)
    files = [open_run(Path(path), path, name, args.run_format) for name, path in runs]
    # Turning asks for rows, and standard input is read once; for anything else no run is held as a whole.
    held = [file.whole() for file in files] if args.turning else []
    design = _design(args)
    scored = evaluate(qrels, held or files, args.metric or [DEFAULT_METRIC], args.missing, scale_top=top)
    tell_warnings([report, *(file.report for file in files)])
    if args.format not in ("table", "json"):
        tell_machine(qrels, report)
    tell_unreached(scored)
    found = compare_scores(scored, baseline=args.baseline, plan=plan, design=design)
    about: dict[str, Any] = {
        "qrels": about_qrels(qrels, report),
        "files": {file.name: {"path": file.report.path, "sha256": file.report.sha256} for file in files},
    }
    about["bounds"] = {run.name: run.diagnostics.as_json()["bounds"] for run in scored.runs}
    about["open"] = [one.sentence for one in open_pairs(found, scored, args.alpha)]
    if args.turning:
        about["turning"] = _turning(args, found, qrels, held, top)
    write_out(FORMATS[args.format](found, about), args.out)
    return 0


def _turning(
    args: argparse.Namespace, found: Comparison, qrels: Qrels, runs: Sequence[Run], top: float | None
) -> list[dict[str, Any]]:
    """What it would take to turn the decision of each pair that was compared."""
    from evaluation.decisions.turning import SECONDS, turning

    of, primary = {run.name: run for run in runs}, found.settings["primary"]
    seconds = SECONDS if args.seconds is None else args.seconds
    return [
        turning(qrels, of[one.a], of[one.b], primary, missing=args.missing, scale_top=top).as_json(seconds)
        for one in found.of_metric(primary)
    ]


def _check_turning(args: argparse.Namespace) -> None:
    if args.seconds is not None and not args.turning:
        raise NotValid("--seconds is for --turning; add it, or leave --seconds out")
    if args.seconds is not None and not 0 < args.seconds < float("inf"):
        raise NotValid(f"--seconds is a number of seconds above 0, not {args.seconds:g}")
    if args.turning and args.weights:
        raise NotValid("--turning is about plain means; leave --weights out")


def _plan(args: argparse.Namespace) -> Plan:
    from evaluation.significance.paired import PERMUTATIONS
    from evaluation.significance.plan import Plan

    if args.permutations is not None and not TESTS[args.test].draws:
        raise NotValid(f"--test {args.test} goes by formula and takes no --permutations")
    return Plan(
        test=args.test,
        correction=args.correction,
        permutations=PERMUTATIONS if args.permutations is None else args.permutations,
        seed=args.seed,
        level=args.level,
        alpha=args.alpha,
        interval=args.interval,
    )


def _design(args: argparse.Namespace) -> SamplingDesign | None:
    if not args.weights:
        if args.design:
            tell_no_effect(f"--design {args.design}", "it says how --weights FILE is read, and there is none")
        return None
    from assay.cli.query_weights import read_design

    design, report = read_design(args.weights, sampled=args.design != "none", by_tier=False)
    tell_warnings([report])
    return design
