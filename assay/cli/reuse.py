"""The command ``assay reuse``: test how well qrels evaluate systems that did not contribute to the pool."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import number, option, progress, text_table
from assay.cli.inputs.files import (
    QRELS_HELP,
    RUN_HELP,
    add_out,
    add_table_formats,
    named_runs,
    print_machine_note,
    print_warnings,
    read_labels,
    stdin_once,
    write_out,
)
from assay.core.errors import NotValid, UnreadableInput
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.estimators.left_out_systems import LeftOut
    from assay.estimators.residual_sample import Missed
    from assay.estimators.reusability import Reuse


EXAMPLE = "assay reuse qrels.txt bm25.run neural.run --depth 10 -m nDCG@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="+", help=RUN_HELP)
    option(parser, "-m --metric METRIC", "one metric", "nDCG@10")
    option(parser, "--depth K", "depth of the pool; default: the depth to which documents are judged", type=int)
    option(parser, "--together NAMES", "comma-separated runs to leave out as a group", default="")
    option(parser, "--new NAMES", "comma-separated runs that did not contribute to the pool", default="")
    option(parser, "--pool FILE", "pool CSV with a residual stratum, to estimate missed relevant documents")
    option(parser, "--relevant GRADE", "lowest relevant grade", 1, type=float)
    option(parser, "--seed", "seed for the interval", 0)
    option(parser, "--format", "output format", "table", choices=["table", "json"])
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Leave out each run and print the effects."""
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


RESIDUAL = "residual"
EXPECTED = "expected the CSV written by assay pool --residual N, with query_id,doc_id,why,probability"


def read_residual(path: str) -> list[tuple[str, str, float]]:
    """Read the residual stratum of a pool: query, document, inclusion probability."""
    from assay.core.read_report import Tally
    from assay.formats.delimited import Columns, read_table
    from assay.formats.text_lines import Content

    names = ("query_id", "doc_id", "why", "probability")
    columns = Columns(dict.fromkeys(names, ()), names, frozenset({"probability"}), frozenset({"rank", "runs"}))
    tally = Tally(path, "pool", EXPECTED)
    drawn = []
    with Content(Path(path), path) as content:
        for cells in read_table(content, tally, columns):
            tally.put("accepted")
            if cells.of["why"] == RESIDUAL:
                drawn.append(
                    (cells.of["query_id"], cells.of["doc_id"], _probability(path, cells.line, cells.of["probability"]))
                )
    tally.report().raise_if_errors()
    if not drawn:
        raise UnreadableInput(path, None, "no pair was drawn at random (why = residual)", EXPECTED)
    return drawn


def _probability(path: str, line: int, text: str) -> float:
    try:
        probability = float(text)
    except ValueError:
        probability = 0.0
    if not 0 < probability <= 1:
        raise UnreadableInput(path, line, f"the probability is {text!r}", "expected a number above 0 and at most 1")
    return probability


HEADER = (
    "run left out",
    "pairs",
    "unique",
    "unique relevant",
    "score",
    "score without",
    "rank",
    "rank without",
    "Judged@10",
    "Judged@10 without",
    "tau",
)


def as_table(result: Reuse) -> str:
    """Return tables of the runs left out, the estimated missed documents, and the judged share of each run."""
    every = [*result.left_out, *result.groups]
    rows = [row for one in every for row in _rows(one)]
    deep = "all ranks" if result.depth is None else f"rank {result.depth}"
    parts = [f"{result.metric}, contributions down to {deep}\n" + text_table(HEADER, rows)] if rows else []
    parts += [f"{result.reason}\n"] if result.reason else []
    parts += [f"{one.name}: {one.reason}\n" for one in every if one.reason]
    parts.append("".join(f"{line}\n" for line in missed_lines(result.missed)))
    cutoffs = list(next(iter(result.judged.values())))
    judged = [[run, *(number(of[k]) for k in cutoffs)] for run, of in result.judged.items()]
    parts.append(text_table(("run", *(f"Judged@{k}" for k in cutoffs)), judged))
    return "\n".join(parts)


def _rows(one: LeftOut) -> list[list[str]]:
    counts = [f"{count:,}" for count in (one.contributed, one.unique, one.unique_relevant)]
    return [
        [
            one.name if len(one.runs) == 1 else f"{one.name}: {hurt.run}",
            *counts,
            number(hurt.score),
            number(hurt.score_without),
            str(hurt.rank or "-"),
            str(hurt.rank_without or "-"),
            number(hurt.judged),
            number(hurt.judged_without),
            number(one.tau),
        ]
        for hurt in one.runs
    ]


def missed_lines(missed: Missed) -> list[str]:
    """Return the estimate as sentences, with its limits.

    Examples
    --------
    >>> from assay.estimators.residual_sample import CURVE, Missed
    >>> missed_lines(Missed(None, None, None, CURVE, 3, 40, 2, reason="2 judged queries are too few"))
    ['relevant documents still unjudged: unknown; 2 judged queries are too few']
    """
    if missed.value is None or missed.low is None or missed.high is None:
        return [f"relevant documents still unjudged: unknown; {missed.reason}"]
    ends = f"{missed.level:.0%} interval {missed.low:,.0f} to {missed.high:,.0f}"
    among = f"among {amount(missed.unjudged, 'unjudged pair')} of {amount(missed.queries, 'query', 'queries')}"
    first = f"relevant documents still unjudged: about {missed.value:,.0f}, {ends}, {among}"
    share = "" if missed.share_found is None else f"; found so far: {missed.found:,}, {missed.share_found:.0%}"
    return [first + share, *(f"note: {note}" for note in missed.notes)]


def as_json(result: Reuse) -> str:
    """Return the result as JSON, numbers unrounded, null with a reason where undefined."""
    return json.dumps(result.as_json(), ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Reuse], str]] = {"table": as_table, "json": as_json}
