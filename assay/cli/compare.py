"""The command ``assay compare``: differences between runs, with intervals and significance tests."""

from __future__ import annotations

import argparse
import json
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
from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.significance import CORRECTIONS, TESTS

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.run import Run
    from assay.significance.compare import Plan
    from assay.significance.results import Comparison, PairComparison

Files = Mapping[str, Any]

EXAMPLE = "assay compare qrels.txt bm25.run neural.run -m nDCG@10 --baseline bm25"

DEFAULT_METRIC = "nDCG@10"
HEADER = ["a", "b", "b - a", "interval", "p", "corrected", "effect", "better", "same", "worse"]
# The note lists this many pairs with the queries that they need; the others are in the JSON.
MOST_PAIRS_LISTED = 3


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


def as_table(comparison: Comparison, files: Files) -> str:
    """Return a table of means, a table of comparisons for each metric, and the assumptions."""
    parts = [text_table(*mean_rows(comparison))]
    for metric, rank, rows in pair_rows(comparison):
        parts.append(f"{metric} ({rank})\n" + text_table(HEADER, rows, left=2))
    machine = machine_note(files.get("qrels", {}))
    lines = [*([machine] if machine else []), *notes(comparison, files)]
    return "\n".join([*parts, "".join(f"{line}\n" for line in lines)])


def as_json(comparison: Comparison, files: Files) -> str:
    """Write numbers unrounded, null where undefined."""
    return json.dumps({**comparison.as_json(), **files}, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_csv(comparison: Comparison, files: Files) -> str:
    """Write one line for each pair and metric, with numbers unrounded and undefined values empty."""
    rows = [{"reason": None} | pair.as_json() for pair in comparison.pairs]
    header = [*(name for name in rows[0] if name != "reason"), "reason"]
    return "".join(map(csv_row, [header, *([_cell(row[name]) for name in header] for row in rows)]))


def as_markdown(comparison: Comparison, files: Files) -> str:
    """Write a table of means and a table of pairs for each metric as Markdown."""
    header, rows = mean_rows(comparison)
    parts = [_markdown(header, rows, left=1)]
    for metric, title, of_metric in pair_rows(comparison):
        parts.append(f"**{_plain(metric)}** ({title})\n\n" + _markdown(HEADER, of_metric, left=2))
    return "\n".join([*parts, "".join(f"- {_plain(line)}\n" for line in notes(comparison, files))])


def as_latex(comparison: Comparison, files: Files) -> str:
    """Write these tables as LaTeX with booktabs rules; the notes are comments."""
    from assay.scoring.score_files import LATEX

    def tabular(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
        cells = [[cell.translate(LATEX).replace("<=", r"$\le$") for cell in row] for row in [header, *rows]]
        lines = [" & ".join(row) + r" \\" for row in cells]
        columns = "l" * left + "r" * (len(header) - left)
        begin = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule"]
        return "\n".join([*begin, *lines[1:], r"\bottomrule", r"\end{tabular}", ""])

    parts = [tabular(*mean_rows(comparison), 1)]
    parts += [f"% {metric} ({title})\n" + tabular(HEADER, rows, 2) for metric, title, rows in pair_rows(comparison)]
    return "\n".join([*parts, "".join(f"% {line}\n" for line in notes(comparison, files))])


FORMATS: dict[str, Callable[[Comparison, Files], str]] = {
    "table": as_table,
    "json": as_json,
    "csv": as_csv,
    "latex": as_latex,
    "markdown": as_markdown,
}


def _metrics(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(pair.metric for pair in comparison.pairs))


def mean_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return header and rows: runs with their means, and significance letters of the preceding metric."""
    header, columns = ["run"], [list(comparison.runs)]
    for metric in _metrics(comparison):
        header.append(metric)
        columns.append([_rounded(of[metric], 4) for of in comparison.runs.values()])
        groups = comparison.groups(metric, comparison.settings["alpha"])
        if groups and any(pair.p is not None for pair in comparison.of_metric(metric)):
            header.append("groups")
            columns.append([groups[run] for run in comparison.runs])
    return header, [list(row) for row in zip(*columns, strict=True)]


def pair_rows(comparison: Comparison) -> list[tuple[str, str, list[list[str]]]]:
    """Return for each metric its name, whether it is the primary metric, and the rows under `HEADER`."""
    primary, smallest = comparison.settings["primary"], comparison.settings["smallest_p"]
    return [
        (
            metric,
            "primary" if metric == primary else "exploratory",
            [_row(pair, smallest) for pair in comparison.of_metric(metric)],
        )
        for metric in _metrics(comparison)
    ]


def _row(pair: PairComparison, smallest: float | None) -> list[str]:
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
        *map(str, (size.wins, size.ties, size.losses)),
    ]


def _p(value: float | None, smallest: float | None = None) -> str:
    """Format p with four decimals; a p at the floor of the test is an upper bound."""
    if value is None:
        return "-"
    text = f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"
    return f"<={text}" if smallest is not None and value <= smallest else text


def notes(comparison: Comparison, files: Files) -> list[str]:
    """Return lines about the settings, decision-critical pairs, and reasons for missing numbers."""
    of = comparison.settings
    left_out = f", {of['queries_left_out']} left out" if of["queries_left_out"] else ""
    counted = f"{of['queries']} {'query' if of['queries'] == 1 else 'queries'}"
    lines = [
        f"{counted}{left_out}; better, same, worse: number of queries on which b is better, the same or worse than a"
    ]
    if of["weighted"]:
        lines.append(f"means and differences are weighted: {of['effective_queries']:.1f} effective queries")
    if of["logarithms"]:
        lines.append(f"differences in {', '.join(of['logarithms'])} are differences of natural logarithms")
    if any(pair.p is not None for pair in comparison.pairs):
        lines += _about_test(comparison)
    lines += _about_queries(comparison) + _about_rankings(comparison)
    reasons = dict.fromkeys(reason for pair in comparison.pairs if pair.reason for reason in pair.reason.split("; "))
    reasons |= dict.fromkeys(reason for one in comparison.rankings for reason in one.agreement.reasons.values())
    notes = [*files.get("open", ()), *_about_turning(files)]
    return [*lines, *notes, *(f"-: {reason}" for reason in reasons)]


def _about_turning(files: Files) -> list[str]:
    return [f"{one['a']}, {one['b']}: {one['sentence']}" for one in files.get("turning", ())]


def _about_test(comparison: Comparison) -> list[str]:
    of = comparison.settings
    draws, queries = of["permutations"], of["queries"]
    looked = f", all {draws:,} sign patterns" if draws == 2**queries else f", {draws:,} draws" if draws else ""
    family = "not corrected"
    if of["correction"] != "none":
        family = f"corrected over {amount(of['family'], 'comparison')} by {of['correction']}"
    lines = [f"test: {of['test']}{looked}, seed {of['seed']}; {family}"]
    if of["baseline"] is None:
        lines.append(f"groups: runs that share a letter do not differ significantly at {of['alpha']:g}")
    if any(pair.low is not None for pair in comparison.pairs):
        how = "by Student's t" if of["interval"] == "t" else f"{of['resamples']:,} resamples of the queries"
        lines.append(f"{of['level']:.0%} interval of the difference: {how}")
    return lines


def _about_queries(comparison: Comparison) -> list[str]:
    """Return the detectable difference with these queries, and the number of queries needed for the others."""
    primary = comparison.settings["primary"]
    pairs = comparison.of_metric(primary)
    lines = []
    if largest := max((pair.effect.detectable or 0.0 for pair in pairs), default=0.0):
        lines.append(
            f"with this many queries, a true difference of {largest:.3f} in {primary} is detected with 80% probability"
        )
    undecided = [pair for pair in pairs if not pair.differs(comparison.settings["alpha"])]
    needed = sorted((pair.effect.queries_needed, pair.a, pair.b) for pair in undecided if pair.effect.queries_needed)
    if needed:
        parts = [f"{queries:,} ({a}, {b})" for queries, a, b in needed[:MOST_PAIRS_LISTED]]
        rest = len(needed) - MOST_PAIRS_LISTED
        more = f" and more for {amount(rest, 'further pair')}" if rest > 0 else ""
        what = "queries needed to detect the observed difference with 80% probability, for a single comparison"
        lines.append(f"{what}: {', '.join(parts)}{more}")
    return lines


def _about_rankings(comparison: Comparison) -> list[str]:
    """Return the agreement of the order by the primary metric with each other metric; the JSON has all pairs of
    metrics."""
    of_primary = [one for one in comparison.rankings if one.a == comparison.settings["primary"]]
    if not of_primary:
        return []
    notes = [
        f"{one.a} and {one.b} tau-b {_rounded(one.agreement.tau_b, 2)}, tau-AP {_rounded(one.agreement.tau_ap, 2)}, "
        f"RBO {_rounded(one.agreement.rbo, 2)}"
        for one in of_primary
    ]
    return [f"agreement on the order of the {len(comparison.runs)} runs: {'; '.join(notes)}"]


def _rounded(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return escape(value) if isinstance(value, str) else repr(value)


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    rule = [":--" if at < left else "--:" for at in range(len(header))]
    lines = [header, rule, *([_plain(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _plain(text: str) -> str:
    """Escape characters with a meaning in Markdown."""
    return "".join(f"\\{character}" if character in "\\|*_`<" else character for character in text)
