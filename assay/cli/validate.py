"""Which lines of a file are odd, and how are they mended?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.reader_options import add_reader_options, read_file

if TYPE_CHECKING:
    from judgments.core.report import Problem, Report

NAME = "validate"
HELP = "list every odd line of a file: exit 0 none or warnings only, 1 an error, 2 unreadable"
EXAMPLE = "assay validate qrels.txt --format trec-qrels --scale 0:3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="IN", help="the file; - is standard input, .gz is unpacked")
    parser.add_argument("--format", dest="source_format", metavar="FORMAT", help="default: what the file looks like")
    parser.add_argument("--strict", action="store_true", help="warnings fail too")
    parser.add_argument("--output", choices=["text", "json", "csv"], default="text", help="how to list; default text")
    parser.add_argument("--out", metavar="FILE", help="write the list to FILE instead of standard output")
    add_reader_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read, list, and judge the file."""
    report = read_file(args.source, args.source_format, args)[1].report
    text = report.as_json() if args.output == "json" else report.as_csv() if args.output == "csv" else as_text(report)
    if args.out and args.out != "-":
        Path(args.out).write_bytes(text.encode())
    else:
        sys.stdout.write(text)
    failed = not report.ok or (args.strict and report.warning_count > 0)
    return 1 if failed else 0


def as_text(report: Report) -> str:
    """Return one line for each problem, and one that sums up."""
    problems = sorted(report.problems, key=lambda problem: problem.line or 0)
    lines = [_problem(report.path, problem, report) for problem in problems]
    hidden = report.error_count + report.warning_count - len(problems)
    if hidden:
        lines.append(f"... and {hidden:,} more")
    bins = ", ".join(f"{number:,} {name}" for name, number in report.bins.items() if number) or "nothing"
    errors, warnings = report.error_count, report.warning_count
    lines.append(
        f"{report.path}: {report.format}, {report.lines:,} lines: {bins}; "
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
