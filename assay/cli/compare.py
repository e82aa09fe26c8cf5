"""The command ``assay compare``: differences between runs, with intervals and significance tests."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option, text_table
from assay.cli.inputs.files import (
    DESIGN_HELP,
    MISSING_HELP,
    QRELS_HELP,
    RUN_HELP,
    about_qrels,
    add_out,
    add_table_formats,
    machine_note,
    named_runs,
    print_machine_note,
    print_unreached,
    print_warnings,
    read_labels,
    scale_values,
    stdin_once,
    write_out,
)
from assay.cli.inputs.query_weights import design_of
from assay.core.errors import NotValid
from assay.significance import CORRECTIONS, TESTS
from assay.significance.comparison_files import HEADER, WRITERS, mean_rows, notes, pair_rows

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.run import Run
    from assay.significance.compare import Plan
    from assay.significance.results import Comparison


EXAMPLE = "assay compare qrels.txt bm25.run neural.run -m nDCG@10 --baseline bm25"

DEFAULT_METRIC = "nDCG@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    option(parser, "runs RUN", f"two or more runs: {RUN_HELP}", nargs="+")
    option(
        parser,
        "-m --metric METRIC",
        f"metric, such as nDCG@10; the first metric is the primary metric; default: {DEFAULT_METRIC}",
        action="append",
    )
    option(parser, "--baseline NAME", "compare each run with this one; default: all pairs")
    option(parser, "--test", "significance test", "randomization", choices=list(TESTS))
    option(
        parser,
        "--correction",
        "correction for multiple comparisons within a metric; not for --test tukey, which corrects for all pairs; "
        "default: holm",
        choices=[*CORRECTIONS, "none"],
    )
    option(parser, "--permutations N", "number of random draws for the test; default: 100000", type=int)
    option(parser, "--seed N", "seed for the test and interval", 0)
    option(parser, "--level", "confidence level of the interval for the difference", 0.95)
    parser.add_argument(
        "--interval", choices=["bootstrap", "t"], help="interval method; default: t for --test t, otherwise bootstrap"
    )
    option(parser, "--alpha", "significance level for corrected p-values", 0.05)
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=MISSING_HELP)
    option(parser, "--weights FILE", "queries.csv with weight and probability, for weighted differences")
    parser.add_argument("--design", choices=["sampled", "none"], help=DESIGN_HELP)
    option(parser, "--scale MIN:MAX", "grade scale, for ERR and similar metrics")
    option(
        parser,
        "--turning",
        "also print the smallest number of unjudged pairs that could reverse each comparison by the primary metric",
        action="store_true",
    )
    option(parser, "--seconds S", "with --turning: seconds per judgment; default: 20", type=float)
    option(parser, "--format", "output format", "table", choices=list(FORMATS))
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Score and compare the runs, and print the result."""
    runs = named_runs(args.runs)
    stdin_once([args.qrels, *(path for _, path in runs), args.weights or ""])
    plan = _plan(args)
    _check_turning(args)
    from assay.formats.qrels_and_runs import open_run
    from assay.scoring.diagnostics import open_pairs
    from assay.scoring.evaluate import evaluate
    from assay.significance.compare import compare_scores

    top = scale_values(args.scale)[-1] if args.scale else None
    qrels, report = read_labels(args)
    files = [open_run(Path(path), path, name, args.run_format) for name, path in runs]
    # --turning needs all rows of the runs, and standard input can be read only once.
    held = [file.whole() for file in files] if args.turning else []
    design = design_of(args)
    scored = evaluate(qrels, held or files, args.metric or [DEFAULT_METRIC], args.missing, scale_top=top)
    print_warnings([report, *(file.report for file in files)])
    if args.format not in ("table", "json"):
        print_machine_note(qrels, report)
    print_unreached(scored)
    comparison = compare_scores(scored, baseline=args.baseline, plan=plan, design=design)
    about: dict[str, Any] = {
        "qrels": about_qrels(qrels, report),
        "files": {file.name: {"path": file.report.path, "sha256": file.report.sha256} for file in files},
    }
    about["bounds"] = {run.name: run.diagnostics.as_json()["bounds"] for run in scored.runs}
    about["open"] = [one.sentence for one in open_pairs(comparison, scored, args.alpha)]
    if args.turning:
        about["turning"] = _turning(args, comparison, qrels, held, top)
    write_out(FORMATS[args.format](comparison, about), args.out)
    return 0


def _turning(
    args: argparse.Namespace, comparison: Comparison, qrels: Qrels, runs: Sequence[Run], top: float | None
) -> list[dict[str, Any]]:
    """Return the decision-critical pairs of each comparison."""
    from assay.decisions.decision_critical import SECONDS, turning

    of, primary = {run.name: run for run in runs}, comparison.settings["primary"]
    seconds = SECONDS if args.seconds is None else args.seconds
    return [
        turning(qrels, of[one.a], of[one.b], primary, missing=args.missing, scale_top=top).as_json(seconds)
        for one in comparison.of_metric(primary)
    ]


def _check_turning(args: argparse.Namespace) -> None:
    if args.seconds is not None and not args.turning:
        raise NotValid("--seconds needs --turning; add --turning or remove --seconds")
    if args.seconds is not None and not 0 < args.seconds < float("inf"):
        raise NotValid(f"--seconds is {args.seconds:g}; use a number above 0")
    if args.turning and args.weights:
        raise NotValid("--turning requires unweighted means; remove --weights")


def _plan(args: argparse.Namespace) -> Plan:
    from assay.significance.compare import Plan
    from assay.significance.paired_differences import PERMUTATIONS

    if args.permutations is not None and not TESTS[args.test].draws:
        raise NotValid(f"--permutations does not apply to --test {args.test}, which uses no random draws; remove it")
    return Plan(
        test=args.test,
        correction=args.correction,
        permutations=PERMUTATIONS if args.permutations is None else args.permutations,
        seed=args.seed,
        level=args.level,
        alpha=args.alpha,
        interval=args.interval,
    )


def as_table(comparison: Comparison, files: Mapping[str, Any]) -> str:
    """Return a table of means, a table of comparisons for each metric, and the assumptions."""
    parts = [text_table(*mean_rows(comparison))]
    for metric, rank, rows in pair_rows(comparison):
        parts.append(f"{metric} ({rank})\n" + text_table(HEADER, rows, left=2))
    machine = machine_note(files.get("qrels", {}))
    lines = [*([machine] if machine else []), *notes(comparison, files)]
    return "\n".join([*parts, "".join(f"{line}\n" for line in lines)])


FORMATS: dict[str, Callable[[Comparison, Mapping[str, Any]], str]] = {"table": as_table, **WRITERS}
