"""The command ``assay evaluate``: score runs against qrels."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import progress, text_table
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
    print_profile,
    print_unreached,
    print_warnings,
    read_labels,
    scale_values,
    seed_of,
    stdin_once,
    warn_no_effect,
    write_out,
)
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.metrics import DEFAULT_METRICS, TABLE
from assay.metrics.metric import TIE, printed
from assay.scoring.score_files import WRITERS, ScoreReport

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.scoring.diagnostics import Diagnostics, Range
    from assay.scoring.results import RunScores, SamplingDesign, Summary


EXAMPLE = "assay evaluate qrels.txt bm25.run neural.run -m nDCG@10 -m 'P@5,10 AP' --format json"

CI_METHOD = "percentile"


# Other formats have no place for diagnostics.
TELL_RANGES = ("table", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="+", help=RUN_HELP)
    parser.add_argument(
        "-m",
        "--metric",
        metavar="METRIC",
        action="append",
        help=f"metric, such as nDCG@10, P(rel=2)@5 or a quoted list; known: {', '.join(TABLE)}; "
        f"default: {' '.join(DEFAULT_METRICS)}",
    )
    parser.add_argument("--per-query", action="store_true", help="also print the scores of each query")
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="output format; default: table")
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=MISSING_HELP)
    parser.add_argument("--condensed", action="store_true", help="drop unjudged documents before scoring")
    parser.add_argument(
        "--ci", metavar="LEVEL", type=float, help="print an interval over queries for every mean, such as 0.95"
    )
    parser.add_argument(
        "--ci-method", choices=["percentile", "bca", "t"], help="interval method for --ci; default: percentile"
    )
    parser.add_argument("--scale", metavar="MIN:MAX", help="grade scale, for ERR and similar metrics")
    parser.add_argument("--seed", type=int, help="seed for the bootstrap; default: 0")
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
    from assay.metrics.metric import parse_metrics

    metrics = parse_metrics(args.metric or DEFAULT_METRICS)
    if args.condensed:
        metrics = tuple({metric.condensed().name: metric.condensed() for metric in metrics}.values())
    from assay.formats.qrels_and_runs import open_run
    from assay.scoring.evaluate import evaluate
    from assay.scoring.results import Profile

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


def as_table(report: ScoreReport) -> str:
    """Return tables of means, weighted means, tiers and queries, with notes on each run."""
    runs = report.evaluation.runs
    parts = [_table(report, {run.name: run.metrics for run in runs}, _mean)]
    if any(one.weighted is not None for run in runs for one in run.metrics.values()):
        parts.append("weighted by traffic\n" + _table(report, {run.name: run.metrics for run in runs}, _weighted))
    for tier in dict.fromkeys(tier for run in runs for tier in run.by_tier):
        inside = {run.name: run.by_tier[tier] for run in runs}
        parts.append(f"{tier}\n" + _table(report, inside, _mean))
        if any(one.weighted is not None for metrics in inside.values() for one in metrics.values()):
            parts.append(f"{tier}, weighted by traffic\n" + _table(report, inside, _weighted))
    if report.per_query:
        parts += [_query_table(report, run) for run in runs]
    parts.append(_notes(report))
    return "\n".join(parts)


# Maximum number of means in the note on ties; JSON has all of them.
MAX_TIE_LINES = 6

FORMATS: dict[str, Callable[[ScoreReport], str]] = {"table": as_table, **WRITERS}


def _table(report: ScoreReport, rows: Mapping[str, Mapping[str, Summary]], cell: Callable[[str, Summary], str]) -> str:
    names = report.evaluation.metrics
    return text_table(["run", *names], [[run, *(cell(name, of[name]) for name in names)] for run, of in rows.items()])


def _mean(name: str, one: Summary) -> str:
    return _with_interval(*(printed(name, value) for value in (one.mean, one.low, one.high)))


def _weighted(name: str, one: Summary) -> str:
    return _with_interval(*(printed(name, value) for value in (one.weighted, one.weighted_low, one.weighted_high)))


def _with_interval(value: str, low: str, high: str) -> str:
    return value if low == "-" else f"{value} [{low}, {high}]"


def _query_table(report: ScoreReport, run: RunScores) -> str:
    names = report.evaluation.metrics
    rows = [[query, *(printed(name, of[name]) for name in names)] for query, of in report.queries(run).items()]
    return f"{run.name}, by query\n" + text_table(["query", *names], rows)


def _notes(report: ScoreReport) -> str:
    rule = "score 0" if report.settings["missing"] == "zero" else "are left out"
    machine = machine_note(report.qrels)
    lines = [
        *([f"{machine}\n"] if machine else []),
        (
            f"{amount(report.qrels['queries'], 'query', 'queries')}, "
            f"{amount(report.qrels['judgments'], 'judgment')}; unanswered queries {rule}\n"
        ),
    ]
    if report.settings["level"] is not None:
        lines += _about_intervals(report)
    if report.evaluation.effective_queries is not None:
        lines.append(f"effective queries after weighting: {report.evaluation.effective_queries:.1f}\n")
    lines += [f"{run.name}: {_run_object(run.diagnostics)}\n" for run in report.evaluation.runs]
    return "".join([*lines, *_about_holes(report), *_about_ties(report)])


def _about_holes(report: ScoreReport) -> list[str]:
    """Return the range of each mean over possible grades of unjudged documents."""
    return [
        f"{run.name}, range of scores if all documents within the cutoff were judged: {', '.join(bounds)}\n"
        for run in report.evaluation.runs
        if (bounds := [f"{name} {one.low:.4f} to {one.high:.4f}" for name, one in _open_bounds(run)])
    ]


def _open_bounds(run: RunScores) -> list[tuple[str, Range]]:
    return [(name, one) for name, one in run.diagnostics.bounds.items() if one.high - one.low > TIE]


def _about_ties(report: ScoreReport) -> list[str]:
    """Return the means that depend on the order of tied documents."""
    from assay.scoring.diagnostics import tie_doubts

    lines, doubts = [], tie_doubts(report.evaluation)
    for one in doubts[:MAX_TIE_LINES]:
        past = f"; ties could reverse its order with {one.others[0]}" if one.others else ""
        past += f" and {len(one.others) - 1} more" if len(one.others) > 1 else ""
        where = f"{amount(one.queries, 'query', 'queries')} with a tie across the cutoff"
        bounds = f"{one.metric} is {one.low:.4f} to {one.high:.4f}, depending on the order of tied documents{past}"
        lines.append(f"{one.run}: {bounds}; {where}\n")
    if len(doubts) > MAX_TIE_LINES:
        lines.append(
            f"and {len(doubts) - MAX_TIE_LINES} more means that depend on ties; --format json lists all of them "
            "in ties_at\n"
        )
    return lines


HOW = {
    "percentile": "percentile bootstrap over queries, seed {seed}",
    "bca": "BCa bootstrap over queries, seed {seed}",
    "t": "Student's t over queries",
}


def _about_intervals(report: ScoreReport) -> list[str]:
    """Return the method of the intervals, and the reasons for missing ones."""
    missing: dict[tuple[str, str], dict[str, None]] = {}
    for tier, metrics in (pair for run in report.evaluation.runs for pair in ({"": run.metrics} | run.by_tier).items()):
        place = f" of {tier}" if tier else ""
        for name, one in metrics.items():
            if one.reason:
                missing.setdefault((place, one.reason), {})[name] = None
            if one.weighted_reason and one.weighted_reason != one.reason:
                missing.setdefault((f"{place}, weighted", one.weighted_reason), {})[name] = None
    how = HOW[report.settings["method"]].format(seed=report.settings["seed"])
    method = f"interval: {report.settings['level']:.0%} {how}\n"
    return [method, *(f"no interval for {' '.join(names)}{at}: {why}\n" for (at, why), names in missing.items())]


def _run_object(diagnostics: Diagnostics) -> str:
    parts = [
        amount(diagnostics.rows, "row"),
        f"{diagnostics.ties:.1%} tied",
        f"{amount(diagnostics.holes, 'unjudged document')} in the top 10",
    ]
    if diagnostics.queries_missing:
        parts.append(amount(diagnostics.queries_missing, "judged query", "judged queries") + " unanswered")
    if diagnostics.queries_unjudged:
        parts.append(amount(diagnostics.queries_unjudged, "query", "queries") + " without judgments (ignored)")
    if diagnostics.queries_without_relevant:
        parts.append(amount(diagnostics.queries_without_relevant, "query", "queries") + " without relevant documents")
    if diagnostics.identical_to:
        parts.append(f"same ranking as {', '.join(diagnostics.identical_to)}")
    if diagnostics.ranks_contradicted:
        parts.append(amount(diagnostics.ranks_contradicted, "rank") + " contradicting the scores")
    if diagnostics.float32_ties:
        parts.append(amount(diagnostics.float32_ties, "pair") + " of scores that only float64 distinguishes")
    if diagnostics.duplicates:
        parts.append(amount(diagnostics.duplicates, "identical judgment") + " kept once")
    return ", ".join(parts)
