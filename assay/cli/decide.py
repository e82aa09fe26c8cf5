"""The command ``assay decide``: whether a candidate is better than its baseline, and whether judging may stop."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import number, option
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
    print_warnings,
    read_labels,
    scale_values,
    stdin_once,
    warn_no_effect,
    write_out,
)
from assay.cli.inputs.query_weights import design_of
from assay.core.errors import UnreadableInput
from assay.core.text_rules import amount
from assay.sequential import METHODS

if TYPE_CHECKING:
    from assay.sequential.decide import Decision

EXAMPLE = "assay decide qrels.txt bm25.run neural.run -m nDCG@10 --order judged.txt"
DEFAULT_METRIC = "nDCG@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    option(parser, "baseline BASELINE", f"the run in use today: {RUN_HELP}")
    option(parser, "candidate CANDIDATE", "the run that may replace it")
    option(parser, "-m --metric METRIC", "metric", DEFAULT_METRIC)
    option(parser, "--delta X", "largest difference that does not matter", 0.02)
    option(parser, "--alpha X", "probability of a wrong verdict over all looks together", 0.05)
    option(parser, "--method", "sequential method", "asymptotic", choices=list(METHODS))
    option(parser, "--planned N", "largest number of queries, fixed beforehand; for --method group", type=int)
    option(parser, "--candidates N", "number of candidates compared with this baseline; alpha is divided by it", 1)
    option(parser, "--order FILE", "query ids in the order judged, one per line; default: the order of QRELS")
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=MISSING_HELP)
    option(parser, "--weights FILE", "queries.csv with weight and probability, for a weighted difference")
    parser.add_argument("--design", choices=["sampled", "none"], help=DESIGN_HELP)
    option(parser, "--scale MIN:MAX", "grade scale, for ERR and similar metrics")
    option(parser, "--trace FILE", "also write the state after each query, as JSONL")
    option(parser, "--format", "output format", "table", choices=["table", "json"])
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Decide, and print the verdict."""
    (first, baseline), (second, candidate) = named_runs([args.baseline, args.candidate], distinct=False)
    stdin_once([args.qrels, baseline, candidate, args.order or "", args.weights or ""])
    planned = args.planned
    if planned is not None and not METHODS[args.method].needs_planned:
        warn_no_effect(f"--planned {planned}", f"--method {args.method} has no plan")
        planned = None
    from assay.formats.qrels_and_runs import load_run
    from assay.sequential.decide import decide

    qrels, report = read_labels(args)
    runs = [
        load_run(Path(path), path, name, args.run_format) for name, path in ((first, baseline), (second, candidate))
    ]
    print_warnings([report, *(one for _, one in runs)])
    if args.format != "json":
        print_machine_note(qrels, report)
    decision = decide(
        qrels,
        runs[0][0],
        runs[1][0],
        args.metric,
        delta=args.delta,
        alpha=args.alpha,
        method=args.method,
        planned=planned,
        candidates=args.candidates,
        order=_order(args.order) if args.order else None,
        design=design_of(args),
        missing=args.missing,
        scale_top=scale_values(args.scale)[-1] if args.scale else None,
    )
    if args.trace:
        write_out("".join(decision.trace_lines()), args.trace)
    about: dict[str, Any] = {
        "qrels": about_qrels(qrels, report),
        "files": {
            name: {"path": one.path, "sha256": one.sha256}
            for name, (_, one) in zip(("baseline", "candidate"), runs, strict=True)
        },
    }
    if args.format == "json":
        write_out(json.dumps(decision.to_dict() | about, indent=2, ensure_ascii=False) + "\n", args.out)
    else:
        write_out(as_text(decision, machine_note(about["qrels"])), args.out)
    return 0


def _order(path: str) -> list[str]:
    from assay.formats.text_lines import Content, reusable_source

    order: dict[str, int] = {}
    with Content(reusable_source(Path(path)), path) as content:
        for line, text in content.lines():
            query_id = text.strip()
            if not query_id:
                continue
            if query_id in order:
                what = f"the query {query_id!r} is also on line {order[query_id]}"
                raise UnreadableInput(path, line, what, "list each query once", "E16")
            order[query_id] = line
    if not order:
        raise UnreadableInput(path, None, "contains no query ids", "write one id per line", "F07")
    return list(order)


def as_text(decision: Decision, machine: str = "") -> str:
    """Return the verdict in a sentence, with what it is based on."""
    from assay.sequential.decide import REASONS

    names = f"{decision.candidate} and {decision.baseline}"
    sentence = {
        "better": f"better: {decision.candidate} is better than {decision.baseline}",
        "worse": f"worse: {decision.candidate} is worse than {decision.baseline}",
        "equivalent": f"equivalent: {names} differ by less than {decision.delta:g}",
        "undecided": f"undecided: it is not clear yet how {names} differ",
    }[decision.verdict]
    lines = [sentence]
    if decision.low is not None and decision.reason != "identical_lists":
        level = 100 * (1 - decision.alpha)
        lines.append(
            f"{decision.metric}: difference {number(decision.difference)}, interval {number(decision.low)} to "
            f"{number(decision.high)} ({level:g}%, valid after every query; {METHODS[decision.method].title})"
        )
    lines.append(f"{amount(decision.queries, 'query', 'queries')}, {amount(decision.judgments, 'judgment')}")
    if decision.reason:
        lines.append(REASONS[decision.reason])
    if decision.expected_more:
        more = amount(decision.expected_more, "more query", "more queries")
        lines.append(f"expected until a verdict: {more}, if they resemble these")
    if decision.undefined:
        lines.append(
            f"left out: {amount(decision.undefined, 'query', 'queries')} for which {decision.metric} is undefined"
        )
    if decision.unweighted:
        lines.append(f"left out: {amount(decision.unweighted, 'query', 'queries')} with weight 0")
    if decision.advises_betting:
        lines.append(
            f"the differences are skewed ({decision.skewness:.1f}), so that a wrong verdict is likelier than "
            f"{decision.alpha:g}; --method betting is safe"
        )
    return "".join(f"{line}\n" for line in [*lines, *([machine] if machine else [])])
