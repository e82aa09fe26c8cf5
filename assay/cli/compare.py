"""Which of these runs is better, by how much, and could it be luck?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import add_out, named, stdin_once, tell_warnings, write_out
from evaluation.significance import CORRECTIONS, TESTS
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from evaluation.significance.compare import Design
    from evaluation.significance.comparison import Comparison, PairComparison

NAME = "compare"
HELP = "compare runs query by query: difference, interval, p, corrected p, effect size"
EXAMPLE = "assay compare qrels.txt bm25.run neural.run -m nDCG@10 --baseline bm25"

DEFAULT_METRIC = "nDCG@10"
HEADER = ["a", "b", "b - a", "interval", "p", "corrected", "effect", "better", "same", "worse"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("qrels", metavar="QRELS", help="the labels, as TREC qrels; - is standard input, .gz is read")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="two or more TREC runs; NAME=PATH gives a name")
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
        default="holm",
        help="for the comparisons of one metric; default holm",
    )
    parser.add_argument("--permutations", type=int, metavar="N", help="draws of the test, default 100000")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of test and interval, default 0")
    parser.add_argument(
        "--missing", choices=["zero", "skip"], default="zero", help="a judged query that a run does not answer"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, score, compare, print."""
    runs = [named(argument) for argument in args.runs]
    stdin_once([args.qrels, *(path for _, path in runs)])
    from evaluation.significance.compare import compare
    from judgments.formats.trec_qrels import load_qrels_report
    from judgments.formats.trec_run import load_run_report

    design = _design(args)
    qrels, report = load_qrels_report(Path(args.qrels), args.qrels)
    read = [load_run_report(Path(path), path, name) for name, path in runs]
    tell_warnings([report, *(of_run for _, of_run in read)])
    tables = [table for table, _ in read]
    metrics = args.metric or [DEFAULT_METRIC]
    found = compare(qrels, tables, metrics, baseline=args.baseline, design=design, missing=args.missing)
    files = {
        "qrels": {"path": report.path, "sha256": report.sha256, "queries": qrels.queries, "judgments": len(qrels)},
        "files": {table.name: {"path": of_run.path, "sha256": of_run.sha256} for table, of_run in read},
    }
    write_out(FORMATS[args.format](found, files), args.out)
    return 0


def as_json(found: Comparison, files: dict[str, Any]) -> str:
    """Numbers unrounded, null where undefined."""
    return json.dumps({**found.as_json(), **files}, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_table(found: Comparison, files: dict[str, Any]) -> str:
    """A table of means, one of comparisons for each metric, and what the numbers hang on."""
    from assay.cli.text_table import number, text_table

    metrics = list(dict.fromkeys(pair.metric for pair in found.pairs))
    means = [[name, *(number(of[metric]) for metric in metrics)] for name, of in found.runs.items()]
    parts = [text_table(["run", *metrics], means)]
    for metric in metrics:
        rank = "primary" if metric == found.settings["primary"] else "exploratory"
        rows = [_row(pair, found.settings["smallest_p"]) for pair in found.of_metric(metric)]
        parts.append(f"{metric} ({rank})\n" + text_table(HEADER, rows, left=2))
    parts.append(_notes(found))
    return "\n".join(parts)


FORMATS: dict[str, Callable[[Comparison, dict[str, Any]], str]] = {"table": as_table, "json": as_json}


def _design(args: argparse.Namespace) -> Design:
    from evaluation.significance.compare import Design

    if args.permutations is None:
        return Design(test=args.test, correction=args.correction, seed=args.seed)
    if not TESTS[args.test].draws:
        raise NotValid(f"--test {args.test} goes by formula and takes no --permutations")
    return Design(test=args.test, correction=args.correction, seed=args.seed, permutations=args.permutations)


def _row(pair: PairComparison, smallest: float | None) -> list[str]:
    from assay.cli.text_table import number

    size = pair.effect
    interval = "-" if pair.low is None or pair.high is None else f"[{pair.low:+.4f}, {pair.high:+.4f}]"
    return [
        pair.a,
        pair.b,
        f"{size.difference:+.4f}",
        interval,
        _p(pair.p, smallest),
        _p(pair.p_corrected),
        "-" if size.size is None else f"{size.size:+.2f}",
        *(number(count, 0) for count in (size.wins, size.ties, size.losses)),
    ]


def _p(value: float | None, smallest: float | None = None) -> str:
    """Four decimals; a p at the floor of the test is only known to be so small."""
    if value is None:
        return "-"
    told = f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"
    return f"<={told}" if smallest is not None and value <= smallest else told


def _notes(found: Comparison) -> str:
    from assay.cli.text_table import counted

    of = found.settings
    left_out = f", {of['queries_left_out']} left out" if of["queries_left_out"] else ""
    lines = [f"{counted(of['queries'], 'query', 'queries')}{left_out}; better, same, worse: queries, seen from b"]
    if any(pair.p is not None for pair in found.pairs):
        lines += _about_test(found)
    reasons = dict.fromkeys(reason for pair in found.pairs if pair.reason for reason in pair.reason.split("; "))
    return "".join(f"{line}\n" for line in [*lines, *(f"-: {reason}" for reason in reasons)])


def _about_test(found: Comparison) -> list[str]:
    of = found.settings
    draws, queries = of["permutations"], of["queries"]
    looked = f", all {draws:,} sign patterns" if draws == 2**queries else f", {draws:,} draws" if draws else ""
    family = f"corrected within {of['family']} by {of['correction']}" if of["correction"] != "none" else "not corrected"
    lines = [f"test: {of['test']}{looked}, seed {of['seed']}; {family}"]
    if any(pair.low is not None for pair in found.pairs):
        lines.append(f"interval: {of['level']:.0%} of the difference, {of['resamples']:,} resamples of the queries")
    detectable = [pair.effect.detectable for pair in found.of_metric(of["primary"])]
    if largest := max((value for value in detectable if value is not None), default=0.0):
        lines.append(f"with so many queries a true difference of {largest:.3f} in {of['primary']} shows 4 times in 5")
    return lines
