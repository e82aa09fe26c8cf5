"""Result rows of the benchmarks: ratios, limits and targets, with the shared options and output."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .processes import CouldNotRun

HEADINGS = ("case", "against", "ratio", "lowest-highest", "at most", "aim", "verdict", "measured")


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Parameters
    ----------
    case, against : str
        What was run, and what its ratio refers to.
    ratios : sequence of float
        One for each repetition, both sides measured next to each other.
    at_most, aim : float, optional
        The limit and what we would like; None where there is none, or where the sizes are not those of the limit.
    measured : str
        The absolute numbers, which are good on one machine only.
    """

    case: str
    against: str
    ratios: Sequence[float]
    at_most: float | None = None
    aim: float | None = None
    measured: str = ""
    ratio: float = field(init=False)
    verdict: str = field(init=False)

    def __post_init__(self) -> None:
        middle = statistics.median(self.ratios)
        object.__setattr__(self, "ratio", middle)
        object.__setattr__(self, "verdict", self._verdict(middle))

    def _verdict(self, ratio: float) -> str:
        if self.at_most is None:
            return "-"
        if ratio > self.at_most:
            return "FAIL"
        return "PASS, aim met" if self.aim is not None and ratio <= self.aim else "PASS"

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the line."""
        numbers = ["-" if limit is None else f"{limit:.2f}" for limit in (self.at_most, self.aim)]
        spread = f"{short(min(self.ratios))}-{short(max(self.ratios))}"
        return (self.case, self.against, short(self.ratio), spread, *numbers, self.verdict, self.measured)


def short(ratio: float) -> str:
    """Write a ratio with two decimals, a small one with two digits that say something."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def table(rows: Iterable[Row]) -> str:
    """Lay rows out in columns: numbers to the right, words to the left."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = {2, 3, 4, 5}
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def options(about: str | None, cases: Iterable[str]) -> argparse.ArgumentParser:
    """Make the parser that the benchmarks share."""
    names = list(cases)
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    if names:
        case_help = f"may be repeated: {', '.join(names)}"
        parser.add_argument("--only", metavar="CASE", action="append", choices=names, help=case_help)
    parser.add_argument("--reps", type=_count, metavar="N", help="repetitions of every case")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repetitions, no verdicts")
    parser.add_argument("--full", action="store_true", help="the largest sizes too")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the data is kept; default var/bench")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to a file")
    return parser


def print_table(cases: Mapping[str, Callable[[argparse.Namespace], Iterable[Row]]], args: argparse.Namespace) -> int:
    """Run the cases asked for, print their rows in one table or write them; 1 when a case could not run to its end."""
    done: list[Row] = []
    status = 0
    for name in args.only or cases:
        try:
            for row in cases[name](args):
                note(f"{row.case}: {short(row.ratio)} of {row.against}, {row.verdict}")
                done.append(row)
        except CouldNotRun as problem:
            note(f"FAILED {name}: {problem}")
            status = 1
    if args.json:
        args.json.write_text(json.dumps([asdict(row) for row in done], indent=2) + "\n")
    elif done:
        print(table(done))
    return status


def note(text: str) -> None:
    """Say something beside the table, at once."""
    print(f"   {text}", file=sys.stderr, flush=True)


def read(path: Path) -> list[Row]:
    """Read rows that a benchmark wrote."""
    names = ("case", "against", "ratios", "at_most", "aim", "measured")
    return [Row(**{name: row[name] for name in names}) for row in json.loads(path.read_text())]


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of repetitions; give 1 or more")
    return int(text)
