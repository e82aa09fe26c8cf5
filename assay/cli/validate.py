"""The command ``assay validate``: list the issues of a file line by line, with a fix for each."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.options.reader import add_reader_options, read_file
from assay.cli.output.text_table import counted
from assay.core.errors import NotValid
from assay.core.read_report import grouped

if TYPE_CHECKING:
    from assay.core.read_report import Problem, Report

NAME = "validate"
EXAMPLE = "assay validate qrels.txt --format trec-qrels --scale 0:3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="IN", help="input file; - for standard input; .gz files are decompressed")
    parser.add_argument("--format", dest="source_format", metavar="FORMAT", help="default: detected from the content")
    parser.add_argument("--strict", action="store_true", help="also exit with status 1 for warnings")
    parser.add_argument("--output", choices=["text", "json", "csv"], default="text", help="output format; default text")
    parser.add_argument("--out", metavar="FILE", help="write the list to FILE instead of standard output")
    group = parser.add_argument_group("run checks")
    group.add_argument("--qrels", metavar="FILE", help="labels, to find unjudged documents and missing queries")
    group.add_argument(
        "--beside", metavar="RUN", action="append", default=[], help="another run to compare with; may be repeated"
    )
    add_reader_options(parser)


def run(args: argparse.Namespace) -> int:
    """List the issues of the file and return the status."""
    member, read = read_file(args.source, args.source_format, args)
    report, health = read.report, None
    if member.kind == "run" and read.rows:
        from assay.cli.output.run_health import run_health

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
    from assay.cli.output.run_health import in_words

    return as_text(report) + "".join(f"{line}\n" for line in in_words(health))


def as_text(report: Report) -> str:
    """Return one line per problem and a summary."""
    problems = sorted(report.problems, key=lambda problem: problem.line or 0)
    lines = []
    for alike in grouped(problems):
        lines += [_problem(report.path, problem, report) for problem in alike.shown]
        if more := alike.number - len(alike.shown):
            lines.append(f"{report.path}: {alike.code} {more:,} more; --output csv lists them")
    hidden = report.error_count + report.warning_count - len(problems)
    if hidden:
        lines.append(f"... and {hidden:,} more")
    bins = ", ".join(f"{number:,} {name}" for name, number in report.bins.items() if number) or "nothing"
    errors, warnings = report.error_count, report.warning_count
    lines.append(
        f"{report.path}: {report.format}, {counted(report.lines, 'line')}: {bins}; "
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
