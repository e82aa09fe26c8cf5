"""How does a command name its inputs and write its output?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.core.report import Report

STDIN = "-"
# What nobody needs to hear about: line ends, comments, blank lines, no line end at the end, what separates cells, other
# names of columns.
UNREMARKABLE = frozenset({"W31", "W34", "W35", "W36", "W46", "W47"})


def add_out(parser: argparse.ArgumentParser) -> None:
    """Declare ``--out``."""
    parser.add_argument("--out", metavar="FILE", help="write to FILE instead of standard output")


def write_out(text: str, out: str | None) -> None:
    """Write the output as UTF-8 with LF, to the file or to standard output."""
    if out is None or out == STDIN:
        sys.stdout.write(text)
    else:
        Path(out).write_bytes(text.encode())


def stdin_once(paths: Sequence[str]) -> None:
    """Refuse standard input for more than one file.

    Raises
    ------
    NotValid
        When ``-`` is named twice.
    """
    if list(paths).count(STDIN) > 1:
        raise NotValid("standard input (-) can be only one of the files")


def named(argument: str) -> tuple[str, str]:
    """Split ``NAME=PATH``; without a name it is the file's name up to the first dot.

    Returns
    -------
    tuple of str
        Name and path. A file whose own name holds ``=`` is taken as a file.

    Raises
    ------
    NotValid
        When nothing stands behind the ``=``.

    Examples
    --------
    >>> named("runs/bm25.v2.run.gz"), named("new=runs/a.run"), named("-")
    (('bm25', 'runs/bm25.v2.run.gz'), ('new', 'runs/a.run'), ('stdin', '-'))
    """
    name, equals, path = argument.partition("=")
    if equals and name and "/" not in name and not Path(argument).exists():
        if not path:
            raise NotValid(f"{argument!r} names no file; write NAME=PATH or PATH")
        return name, path
    if argument == STDIN:
        return "stdin", STDIN
    stem = Path(argument).name
    # A leading dot hides a file and does not end its name.
    return stem[:1] + stem[1:].partition(".")[0], argument


def tell_profile(seconds: Mapping[str, float]) -> None:
    """Say on standard error where the time went, the most costly work first."""
    total = sum(seconds.values()) or 1.0
    for name, spent in sorted(seconds.items(), key=lambda entry: -entry[1]):
        sys.stderr.write(f"profile: {name:<12} {spent:8.3f} s  {spent / total:4.0%}\n")


def tell_warnings(reports: Iterable[Report]) -> None:
    """Say on standard error what was odd in the files, one line for each kind of oddity."""
    for report in reports:
        told: set[str] = set()
        for problem in report.warnings:
            if problem.code in UNREMARKABLE or problem.code in told:
                continue
            told.add(problem.code)
            times = report.codes.get(problem.code, 1)
            place = report.path if problem.line is None else f"{report.path}:{problem.line}"
            more = f" ({times - 1} more such)" if times > 1 else ""
            sys.stderr.write(f"note: {place}: {problem.what}; {problem.done} [{problem.code}]{more}\n")
