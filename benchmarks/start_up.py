"""Start-up time of ``assay evaluate --help``, against bare Python with argparse and against our limit.

    python benchmarks/start_up.py [--reps N] [--quick] [--json FILE]

The commands run in turn, so that a busy machine slows all of them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator

from side_by_side.processes import measure
from side_by_side.rows import Row, options, print_table

LIMIT = 0.25
ROUNDS, QUICK_ROUNDS = 15, 3
BARE = [sys.executable, "-c", "import argparse"]
COMMANDS = {
    "assay evaluate --help": [sys.executable, "-m", "assay", "evaluate", "--help"],
    "assay --help": [sys.executable, "-m", "assay", "--help"],
}


def main() -> int:
    """Measure the command's start."""
    return print_table({"help": rows}, options(__doc__, ["help"]).parse_args())


def rows(args: argparse.Namespace) -> Iterator[Row]:
    """Two rows for each command: a share of the limit, and a multiple of bare Python."""
    walls: dict[str, list[float]] = {name: [] for name in ("bare", *COMMANDS)}
    for _ in range(args.reps or (QUICK_ROUNDS if args.quick else ROUNDS)):
        for name, command in (("bare", BARE), *COMMANDS.items()):
            walls[name].append(measure(command).wall)
    for name in COMMANDS:
        measured = f"{statistics.median(walls[name]):.3f} s, least {min(walls[name]):.3f} s, {len(walls[name])}x"
        yield Row(name, f"the limit of {LIMIT:g} s", [one / LIMIT for one in walls[name]], 1.0, None, measured)
        bare = [one / other for one, other in zip(walls[name], walls["bare"], strict=True)]
        yield Row(name, "bare Python", bare, measured=f"{statistics.median(walls['bare']):.3f} s is bare Python")


if __name__ == "__main__":
    sys.exit(main())
