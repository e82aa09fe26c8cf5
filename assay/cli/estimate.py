"""The command ``assay estimate``: a run's mean from human labels of some queries and machine labels of all."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import add_out, named_runs, stdin_once, tell_warnings, write_out
from assay.cli.table_formats import QRELS_HELP, RUN_HELP
from assay.cli.text_table import counted, number, text_table
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from evaluation.estimators.from_labels import Estimate

NAME = "estimate"
EXAMPLE = "assay estimate qrels.txt labels.jsonl bm25.run -m nDCG@10"
DEFAULT_METRIC = "nDCG@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("qrels", metavar="QRELS", help=f"people's labels, of a random sample of queries: {QRELS_HELP}")
    parser.add_argument("labels", metavar="LABELS", help="the machine's, of these queries and more: jsonl or qrels")
    parser.add_argument("runs", metavar="RUN", nargs="+", help=RUN_HELP)
    parser.add_argument("-m", "--metric", metavar="METRIC", action="append", help=f"default: {DEFAULT_METRIC}")
    parser.add_argument(
        "--method",
        choices=["ppi", "stratified"],
        default="ppi",
        help="ppi (default) corrects the machine's mean by people's; stratified: it only says which queries are alike",
    )
    parser.add_argument(
        "--partly",
        action="store_true",
        help="people labelled the same part of each query, such as a shallower pool; else labels of less than half of "
        "their pairs are refused",
    )
    parser.add_argument("--judge", metavar="NAME", help="which judge or model, where LABELS has several")
    parser.add_argument("--ci", metavar="LEVEL", type=float, default=0.95, help="of the intervals; default 0.95")
    parser.add_argument(
        "--plan", metavar="HALF", type=float, help="how many queries people must label for an interval of +-HALF"
    )
    parser.add_argument("--format", choices=["table", "json"], default="table", help="default: table")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, estimate, print."""
    if not 0 < args.ci < 1:
        raise NotValid(f"--ci is {args.ci:g}; give a level between 0 and 1, such as 0.95")
    if args.plan is not None and not args.plan > 0:
        raise NotValid(f"--plan is {args.plan:g}; give half of the interval that is wanted, such as 0.02")
    runs = named_runs(args.runs)
    stdin_once([args.qrels, args.labels, *(path for _, path in runs)])
    from assay.cli.machine_labels import read_machine_labels
    from evaluation.estimators.from_labels import estimates
    from judgments.formats.tables import load_qrels, open_run

    people, report = load_qrels(Path(args.qrels), args.qrels)
    machine = read_machine_labels(args.labels, args.judge)
    files = [open_run(Path(path), path, name, None) for name, path in runs]
    tables = [file.whole() for file in files]
    tell_warnings([report, *(file.report for file in files)])
    found = estimates(
        people,
        machine.qrels(),
        tables,
        args.metric or [DEFAULT_METRIC],
        method=args.method,
        level=args.ci,
        half=args.plan,
        partly=args.partly,
    )
    write_out(_as_json(machine.judge, found) if args.format == "json" else _as_table(machine.judge, found), args.out)
    return 0


def _as_json(judge: str, found: list[Estimate]) -> str:
    whole: dict[str, Any] = {"judge": judge, "estimates": [one.as_json() for one in found]}
    if len(found) == 1:
        # The one that was asked for stands at the top, as the interfaces name it.
        whole = {"judge": judge, **found[0].as_json()}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _as_table(judge: str, found: list[Estimate]) -> str:
    first = found[0].powered
    lines = [
        f"people labelled {counted(first.queries, 'query', 'queries')}, "
        f"{judge} {counted(first.others, 'other', 'others')} besides\n\n"
    ]
    header = ["run", "metric", "estimate", f"{first.level:.0%} interval", "people alone", "interval", "width", "saved"]
    lines.append(text_table(header, [_row(one) for one in found], left=2))
    lines += [f"note: {note}\n" for note in dict.fromkeys(note for one in found for note in one.notes)]
    for one in found:
        if one.needed is not None:
            with_machine, alone = one.needed
            lines.append(
                f"{one.run}, {one.metric}, +-{one.half:g}: people label {counted(with_machine, 'query', 'queries')} "
                "in all with the "
                f"machine, {alone:,} without\n"
            )
    return "".join(lines)


def _row(one: Estimate) -> list[str]:
    found, alone = one.powered, one.powered.human_only
    ends = "-" if found.low is None else f"{number(found.low)} to {number(found.high)}"
    theirs = ["-", "-"] if alone is None else [number(alone.mean), f"{number(alone.low)} to {number(alone.high)}"]
    saved = "-" if found.queries_saved is None else f"{found.queries_saved:,}"
    return [one.run, one.metric, number(found.estimate), ends, *theirs, number(found.width_ratio, 2), saved]
