"""Options that commands share: named files, standard input, ``--out``, ``--scale``, seeds, and notes about them."""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid
from assay.core.run_names import run_names, stem

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.scoring.results import Evaluation


DEFAULT = "0:3"
LARGEST = 1000


def add_scale(parser: argparse.ArgumentParser) -> None:
    """Declare ``--scale``."""
    parser.add_argument("--scale", metavar="MIN:MAX", default=DEFAULT, help=f"grade scale, default {DEFAULT}")


def scale_values(text: str) -> tuple[int, ...]:
    """Read ``MIN:MAX``, two whole numbers.

    Examples
    --------
    >>> scale_values("0:3")
    (0, 1, 2, 3)
    """
    ends = re.fullmatch(r"(-?\d{1,6}):(-?\d{1,6})", text.strip())
    values = range(int(ends[1]), int(ends[2]) + 1) if ends else range(0)
    if not 2 <= len(values) <= LARGEST:
        raise NotValid(f"--scale is {text!r}; write MIN:MAX with whole numbers and MIN below MAX, such as {DEFAULT}")
    return tuple(values)


def warn_no_effect(option: str, reason: str) -> None:
    """Print on standard error that an option has no effect."""
    sys.stderr.write(f"note: {option} has no effect: {reason}\n")


def seed_of(given: int | None, reason: str = "") -> int:
    """Return the seed, 0 by default; if there is a reason, warn that a given seed has no effect."""
    if given is not None and reason:
        warn_no_effect(f"--seed {given}", reason)
    return given or 0


STDIN = "-"
MOST_OF_A_LINE = 10_000
# Issues that are not reported: line ends, comments, blank lines, a missing final line end, delimiters, column names.
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


def written(name: str, rows: Iterable[Any], **options: Any) -> str:
    """Return the rows as the text of a file in a format."""
    from assay.formats import FORMATS

    stream, write = io.BytesIO(), FORMATS[name].write
    assert write is not None  # noqa: S101 (the command uses only formats that can be written)
    write(rows, stream, **options)
    return stream.getvalue().decode()


def read_rows(name: str, path: str, *, warn: bool = True) -> list[Any]:
    """Return the rows of a file in a format; print its warnings on standard error."""
    from assay.formats import FORMATS
    from assay.formats.text_lines import reusable_source

    read = FORMATS[name].read(reusable_source(Path(path)), path=path)
    read.report.raise_if_errors()
    if warn:
        print_warnings([read.report])
    return list(read.rows)


def stdin_once(paths: Sequence[str]) -> None:
    """Reject standard input for more than one file."""
    if list(paths).count(STDIN) > 1:
        raise NotValid("standard input (-) is used for more than one file; use it once")


def named(argument: str) -> tuple[str, str]:
    """Split ``NAME=PATH``; the default name is the file name up to the first dot.

    Examples
    --------
    >>> named("runs/bm25.v2.run.gz"), named("new=runs/a.run"), named("-")
    (('bm25', 'runs/bm25.v2.run.gz'), ('new', 'runs/a.run'), ('stdin', '-'))
    """
    name, path = _split(argument)
    return name or ("stdin" if path == STDIN else stem(path)), path


def named_runs(arguments: Sequence[str], *, distinct: bool = True) -> list[tuple[str, str]]:
    """Split each ``NAME=PATH``; files with the same name up to the first dot are named by the part that differs.

    Examples
    --------
    >>> named_runs(["input.A.gz", "input.B.gz", "mine=c.run"])
    [('A', 'input.A.gz'), ('B', 'input.B.gz'), ('mine', 'c.run')]
    """
    split = [_split(argument) for argument in arguments]
    free = [path for name, path in split if not name and path != STDIN]
    given = [name or "stdin" for name, path in split if name or path == STDIN]
    free_names = iter(run_names(free, given, lambda place: _tag(free[place])))
    named = [(name or ("stdin" if path == STDIN else next(free_names)), path) for name, path in split]
    files: dict[str, list[str]] = {}
    for name, path in named:
        files.setdefault(name, []).append(path)
    twice = next((name for name, paths in files.items() if len(paths) > 1 and STDIN not in paths), None)
    if distinct and twice is not None:
        both = ", ".join(files[twice])
        raise NotValid(f"two runs are named {twice!r} ({both}); rename one with NAME=PATH")
    return named


def _split(argument: str) -> tuple[str, str]:
    """Return the given name, empty if there is none, and the path."""
    name, equals, path = argument.partition("=")
    if equals and name and "/" not in name and not Path(argument).exists():
        if not path:
            raise NotValid(f"{argument!r} does not name a file; write NAME=PATH or PATH")
        return name, path
    return "", argument


def _tag(path: str) -> str | None:
    """Return the tag in the first row of a TREC run; None if there is none or the file cannot be read."""
    import gzip

    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            fields = (gzip.GzipFile(fileobj=file) if packed else file).readline(MOST_OF_A_LINE).split()
        return fields[5].decode() if len(fields) == 6 else None
    except (OSError, EOFError, ValueError):
        return None


def print_profile(seconds: Mapping[str, float]) -> None:
    """Print the time of each step on standard error, slowest first."""
    total = sum(seconds.values()) or 1.0
    for name, spent in sorted(seconds.items(), key=lambda entry: -entry[1]):
        sys.stderr.write(f"profile: {name:<12} {spent:8.3f} s  {spent / total:4.0%}\n")


def print_unreached(evaluation: Evaluation) -> None:
    """Print on standard error which metrics are 0 because no grade counts as relevant."""
    for note in evaluation.unreached_notes:
        sys.stderr.write(f"note: {note}\n")


def print_warnings(reports: Iterable[Report]) -> None:
    """Print the warnings of the files on standard error, one line for each kind."""
    for report in reports:
        printed: set[str] = set()
        for problem in report.warnings:
            if problem.code in UNREMARKABLE or problem.code in printed:
                continue
            printed.add(problem.code)
            times = report.codes.get(problem.code, 1)
            place = report.path if problem.line is None else f"{report.path}:{problem.line}"
            more = f" ({times - 1} more such)" if times > 1 else ""
            sys.stderr.write(f"note: {place}: {problem.what}; {problem.done} [{problem.code}]{more}\n")
