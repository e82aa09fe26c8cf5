"""The command ``assay estimate``: a run's mean from human labels of some queries and machine labels of all."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import number, option, text_table
from assay.cli.inputs.files import (
    QRELS_HELP,
    RUN_HELP,
    add_out,
    named_runs,
    print_warnings,
    read_machine_labels,
    stdin_once,
    write_out,
)
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.estimators.human_machine_mean import HumanMachineMean

EXAMPLE = "assay estimate qrels.txt labels.jsonl bm25.run -m nDCG@10"
DEFAULT_METRIC = "nDCG@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "qrels QRELS", f"human labels of a random sample of queries: {QRELS_HELP}")
    option(parser, "labels LABELS", "machine labels of these and more queries: labels.jsonl or qrels")
    parser.add_argument("runs", metavar="RUN", nargs="+", help=RUN_HELP)
    option(parser, "-m --metric METRIC", f"metric; default: {DEFAULT_METRIC}", action="append")
    option(
        parser,
        "--method",
        "ppi (default): correct the machine mean with the human labels; stratified: use the machine labels only to "
        "form strata",
        choices=["ppi", "stratified"],
        default="ppi",
    )
    option(
        parser,
        "--partly",
        "people labeled the same part of each query's pairs, such as a shallower pool; without this option, human "
        "labels must cover at least half of the pairs",
        action="store_true",
    )
    option(parser, "--judge NAME", "the judge or model to use, if LABELS has several")
    option(parser, "--ci LEVEL", "confidence level of the intervals", 0.95)
    option(parser, "--plan HALF", "print how many queries people must label for an interval of +-HALF", type=float)
    option(parser, "--format", "output format", "table", choices=["table", "json"])
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Compute and print the estimates."""
    if not 0 < args.ci < 1:
        raise NotValid(f"--ci is {args.ci:g}; use a level between 0 and 1, such as 0.95")
    if args.plan is not None and not args.plan > 0:
        raise NotValid(f"--plan is {args.plan:g}; give half the width of the interval you want, such as 0.02")
    runs = named_runs(args.runs)
    stdin_once([args.qrels, args.labels, *(path for _, path in runs)])
    from assay.estimators.human_machine_mean import estimates
    from assay.formats.qrels_and_runs import load_qrels, open_run

    people, report = load_qrels(Path(args.qrels), args.qrels)
    machine = read_machine_labels(args.labels, args.judge)
    files = [open_run(Path(path), path, name, None) for name, path in runs]
    tables = [file.whole() for file in files]
    print_warnings([report, *(file.report for file in files)])
    results = estimates(
        people,
        machine.qrels(),
        tables,
        args.metric or [DEFAULT_METRIC],
        method=args.method,
        level=args.ci,
        half=args.plan,
        partly=args.partly,
    )
    write_out(
        _as_json(machine.judge, results) if args.format == "json" else _as_table(machine.judge, results), args.out
    )
    return 0


def _as_json(judge: str, results: list[HumanMachineMean]) -> str:
    whole: dict[str, Any] = {"judge": judge, "estimates": [one.as_json() for one in results]}
    if len(results) == 1:
        # A single estimate is at the top level of the JSON.
        whole = {"judge": judge, **results[0].as_json()}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _as_table(judge: str, results: list[HumanMachineMean]) -> str:
    first = results[0].powered
    lines = [
        f"people labeled {amount(first.queries, 'query', 'queries')}; "
        f"{judge} labeled {amount(first.others, 'other', 'others')}\n\n"
    ]
    header = [
        "run",
        "metric",
        "estimate",
        f"{first.level:.0%} interval",
        "human only",
        "interval",
        "width ratio",
        "queries saved",
    ]
    lines.append(text_table(header, [_row(one) for one in results], left=2))
    lines += [f"note: {note}\n" for note in dict.fromkeys(note for one in results for note in one.notes)]
    for one in results:
        if one.needed is not None:
            with_machine, alone = one.needed
            lines.append(
                f"{one.run}, {one.metric}, +-{one.half:g}: people must label "
                f"{amount(with_machine, 'query', 'queries')} in all with machine labels, {alone:,} without\n"
            )
    return "".join(lines)


def _row(one: HumanMachineMean) -> list[str]:
    corrected, alone = one.powered, one.powered.human_only
    ends = "-" if corrected.low is None else f"{number(corrected.low)} to {number(corrected.high)}"
    theirs = ["-", "-"] if alone is None else [number(alone.mean), f"{number(alone.low)} to {number(alone.high)}"]
    saved = "-" if corrected.queries_saved is None else f"{corrected.queries_saved:,}"
    return [one.run, one.metric, number(corrected.estimate), ends, *theirs, number(corrected.width_ratio, 2), saved]
