"""The command ``assay validate``: list the issues of a file line by line, with a fix for each."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.cli.options.reader import add_reader_options, read_file
from assay.core.errors import NotValid
from assay.core.read_report import grouped
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.read_report import Problem, Report
    from assay.core.run import Run
    from assay.formats.row_types import RunRow


EXAMPLE = "assay validate qrels.txt --format trec-qrels --scale 0:3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "source IN", "input file; - for standard input; .gz files are decompressed")
    option(parser, "--format FORMAT", "input format; default: detected from the content", dest="source_format")
    option(parser, "--strict", "also exit with status 1 for warnings", action="store_true")
    option(parser, "--output", "output format", "text", choices=["text", "json", "csv"])
    option(parser, "--out FILE", "write the list to FILE instead of standard output")
    group = parser.add_argument_group("run checks")
    option(group, "--qrels FILE", "labels, to find unjudged documents and missing queries")
    option(group, "--beside RUN", "another run to compare with; may be repeated", action="append", default=[])
    add_reader_options(parser)


def run(args: argparse.Namespace) -> int:
    """List the issues of the file and return the status."""
    member, read = read_file(args.source, args.source_format, args)
    report, health = read.report, None
    if member.kind == "run" and read.rows:
        health = run_health(read.rows, args.qrels, args.beside)
    elif member.kind != "run" and (args.qrels or args.beside):
        raise NotValid(f"{args.source} is {member.name}, but --qrels and --beside apply only to runs; remove them")
    text = _written(report, health, args.output)
    if args.out and args.out != "-":
        Path(args.out).write_bytes(text.encode())
    else:
        sys.stdout.write(text)
    failed = not report.ok or (args.strict and report.warning_count > 0)
    return 1 if failed else 0


def _written(report: Report, health: dict[str, Any] | None, output: str) -> str:
    if output == "csv":
        return report.as_csv()
    if output == "json":
        whole = json.loads(report.as_json()) | ({"health": health} if health else {})
        return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
    if not health:
        return as_text(report)

    return as_text(report) + "".join(f"{line}\n" for line in in_words(health))


def as_text(report: Report) -> str:
    """Return one line per problem and a summary."""
    problems = sorted(report.problems, key=lambda problem: problem.line or 0)
    lines = []
    for alike in grouped(problems):
        lines += [_problem(report.path, problem, report) for problem in alike.shown]
        if more := alike.number - len(alike.shown):
            lines.append(f"{report.path}: {more:,} more {alike.code}; --output csv lists them")
    hidden = report.error_count + report.warning_count - len(problems)
    if hidden:
        lines.append(f"... and {hidden:,} more")
    bins = ", ".join(f"{number:,} {name}" for name, number in report.bins.items() if number) or "nothing"
    errors, warnings = report.error_count, report.warning_count
    lines.append(
        f"{report.path}: {report.format}, {amount(report.lines, 'line')}: {bins}; "
        f"{errors:,} error{'s' * (errors != 1)}, {warnings:,} warning{'s' * (warnings != 1)}"
    )
    return "\n".join(lines) + "\n"


def _problem(path: str, problem: Problem, report: Report) -> str:
    place = path if problem.line is None else f"{path}:{problem.line}"
    column = f" {problem.column}:" if problem.column else ""
    times = report.codes.get(problem.code, 1) if problem.severity == "warning" else 1
    listed = sum(other.code == problem.code for other in report.warnings) if times > 1 else 1
    more = f" ({times:,} times)" if times > listed == 1 else ""
    fix = f"; {problem.fix}" if problem.fix else ""
    return f"{place}:{column} {problem.code} {problem.what}; {problem.done}{fix}{more}"


DEPTH = 10


def run_health(rows: Sequence[RunRow], qrels: str | None, beside: Sequence[str]) -> dict[str, Any]:
    """Return the figures of a run by name."""
    import numpy as np

    from assay.core.run import Run
    from assay.formats.qrels_and_runs import load_qrels
    from assay.formats.stored_run import depths, figures
    from assay.formats.trec_run import RunRows

    columns = RunRows.of(rows)
    run = Run.from_columns(columns.query_ids, columns.doc_ids, columns.scores)
    health: dict[str, Any] = asdict(figures(columns))
    health["depths"] = [
        {"from": low, "to": high, "queries": queries} for low, high, queries in depths(np.diff(run.offsets).tolist())
    ]
    labels = load_qrels(Path(qrels), qrels)[0] if qrels else None
    if labels is not None:
        health |= _beside_labels(run, labels)
    query_ids = labels.query_ids if labels is not None else run.query_ids
    health["runs"] = [{"path": path, **_likeness(run, path, query_ids)} for path in beside]
    return health


def _beside_labels(run: Run, labels: Qrels) -> dict[str, Any]:
    from assay.core.unjudged import count_unjudged

    known = labels.to_dict()
    unjudged = count_unjudged(known, ((query_id, run.ranking(query_id)) for query_id in run.query_ids), DEPTH)
    return {
        "queries_left_out": len(known.keys() - set(run.query_ids)),
        "queries_not_in_qrels": len(set(run.query_ids) - known.keys()),
        f"unjudged_at_{DEPTH}": unjudged.share,
    }


def _likeness(run: Run, path: str, query_ids: Sequence[str]) -> dict[str, Any]:
    from assay.formats.qrels_and_runs import load_run
    from assay.scoring.run_similarity import likeness, tops

    other = load_run(Path(path), path, path)[0]
    query_ids = sorted({*query_ids, *other.query_ids})
    return asdict(likeness(tops(run, query_ids, DEPTH), tops(other, query_ids, DEPTH)))


def in_words(health: dict[str, Any]) -> Iterator[str]:
    """Yield the figures as sentences."""
    yield (
        f"depth: {health['median']:,} (median), {health['smallest']:,} to {health['largest']:,}; "
        f"{amount(health['rows'], 'row')} for {_queries(health['queries'])}"
    )
    share = health["tied_rows"] / health["rows"] if health["rows"] else 0.0
    yield f"ties: {amount(health['tied_rows'], 'row')} ({share:.1%}), in {health['tied_queries']:,} of the queries"
    if health["against_rows"]:
        yield (
            f"ranks: {amount(health['against_rows'], 'row is', 'rows are')} ordered differently by score, in "
            f"{health['against_queries']:,} of the queries, first in {health['first_against']}; the scores decide"
        )
    elif health["ranked_rows"]:
        ties = health["reordered_rows"]
        yield "ranks: agree with the scores" + (
            f"; {amount(ties, 'tied row is', 'tied rows are')} ordered differently by rank" if ties else ""
        )
    else:
        yield "ranks: none"
    if "queries_left_out" in health:
        unjudged = health[f"unjudged_at_{DEPTH}"]
        unjudged_text = (
            "undefined, because the run has no query of the qrels" if unjudged is None else f"{unjudged:.3f}"
        )
        yield (
            f"compared with the qrels: {_queries(health['queries_left_out'])} missing from the run, "
            f"{health['queries_not_in_qrels']:,} not in the qrels; unjudged@{DEPTH} {unjudged_text}"
        )
    for other in health["runs"]:
        if other["jaccard"] is None:
            yield f"similarity to {other['path']}: undefined, because no query has results"
            continue
        yield (
            f"similarity to {other['path']}: Jaccard@{DEPTH} {other['jaccard']:.3f}, RBO@{DEPTH} {other['rbo']:.3f}, "
            f"identical for {other['same']:,} of {_queries(other['queries'])}"
        )


def _queries(number: int) -> str:
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"
