"""Processor time of the pages of a decision with 500 judged queries.

    python benchmarks/decision_pages.py [--only CASE] [--reps N] [--quick] [--json FILE]

`verdict` is the time from the labels to verdict and chart; its limit is 50 ms. `pages` loads the pages of the walk from
the home page to the report; the limit is 200 ms each. "decision after an answer" also reads all judgments again and has
no limit.
PostgreSQL is measured in a separate database if ASSAY_BENCH_POSTGRES names a server.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator
from functools import partial

from side_by_side import databases
from side_by_side.processes import child, measured_json
from side_by_side.rows import Row, note, options, print_table

VERDICT, PAGE = 0.05, 0.2
QUERIES, FEW = 500, 60
# All judgments are read again once after each answer; this has no limit.
AGAIN = "decision after an answer"


def main() -> int:
    """Measure on every database that there is."""
    cases = {"sqlite": partial(measured, "SQLite"), "postgresql": partial(measured, "PostgreSQL")}
    return print_table(cases, options(__doc__, cases).parse_args())


def measured(title: str, args: argparse.Namespace) -> Iterator[Row]:
    """Judge a decision in a new database, load its pages, and return their times as shares of the limits."""
    if not databases.there(title.lower()):
        note(f"{title} is left out: set {databases.SERVER}")
        return
    queries = FEW if args.quick else QUERIES
    with databases.fresh(title.lower()) as environment:
        database = {name: environment[name] for name in ("DATABASE_URL", "ASSAY_VAR")}
        times: dict[str, list[float]] = measured_json(
            child("judged_decision", str(queries), str(args.reps or 9)), **database
        )
    for name, seconds in times.items():
        limit = VERDICT if name.startswith("verdict") else PAGE
        summary = f"{statistics.median(seconds):.3f} s of processor time, {len(seconds)}x"
        at_most = None if args.quick or name == AGAIN else 1.0
        ratios = [one / limit for one in seconds]
        yield Row(f"{queries} queries, {title}: {name}", f"{limit * 1000:.0f} ms", ratios, at_most, None, summary)


if __name__ == "__main__":
    sys.exit(main())
