"""The command ``assay reuse``: test how well qrels evaluate systems that did not contribute to the pool."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs.files import add_out, named_runs, print_warnings, stdin_once, write_out
from assay.cli.inputs.qrels import QRELS_HELP, RUN_HELP, add_table_formats, read_labels
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.estimators.reusability import Reuse

NAME = "reuse"
EXAMPLE = "assay reuse qrels.txt bm25.run neural.run --depth 10 -m nDCG@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="+", help=RUN_HELP)
    parser.add_argument("-m", "--metric", metavar="METRIC", default="nDCG@10", help="one metric; default: nDCG@10")
    parser.add_argument(
        "--depth", metavar="K", type=int, help="depth of the pool; default: the depth to which documents are judged"
    )
    parser.add_argument("--together", metavar="NAMES", default="", help="comma-separated runs to leave out as a group")
    parser.add_argument(
        "--new", metavar="NAMES", default="", help="comma-separated runs that did not contribute to the pool"
    )
    parser.add_argument(
        "--pool", metavar="FILE", help="pool CSV with a residual stratum, to estimate missed relevant documents"
    )
    parser.add_argument("--relevant", metavar="GRADE", type=float, default=1, help="lowest relevant grade; default: 1")
    parser.add_argument("--seed", type=int, default=0, help="seed for the interval, default 0")
    parser.add_argument("--format", choices=["table", "json"], default="table", help="default: table")
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Leave out each run and print the effects."""
    from assay.cli.output.machine_labels import print_machine_note
    from assay.cli.output.progress import progress
    from assay.cli.output.reuse import FORMATS
    from assay.formats.qrels_and_runs import open_run

    if args.depth is not None and args.depth < 1:
        raise NotValid(f"--depth is {args.depth}; use 1 or more")
    runs = named_runs(args.runs)
    stdin_once([args.qrels, *(path for _, path in runs), args.pool or ""])
    qrels, report = read_labels(args)
    files = [open_run(Path(path), path, name, args.run_format) for name, path in runs]
    tables = [file.whole() for file in files]
    print_machine_note(qrels, report)
    print_warnings([report, *(file.report for file in files)])
    new = _names(args.new)
    from assay.cli.inputs.residual_pairs import read_residual
    from assay.estimators.residual_sample import strata_of
    from assay.estimators.reusability import reuse

    strange = next((name for name in new if name not in {name for name, _ in runs}), None)
    if strange is not None:
        raise NotValid(f"--new names {strange!r}, which is not a run; known: {', '.join(name for name, _ in runs)}")
    result: Reuse = reuse(
        qrels,
        tables,
        args.metric,
        contributors=[table.name for table in tables if table.name not in new],
        depth=args.depth,
        together=_names(args.together),
        strata=strata_of(read_residual(args.pool), qrels, args.relevant) if args.pool else (),
        rel=args.relevant,
        seed=args.seed,
        watch=progress(len(tables), "leaving out"),
    )
    write_out(FORMATS[args.format](result), args.out)
    return 0


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
