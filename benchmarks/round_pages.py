"""Load times of the pages of a round with a million judgments.

    python benchmarks/round_pages.py [--only CASE] [--reps N] [--quick] [--json FILE]

The benchmark fills its own database with 500,000 pairs of two grades each. A lead loads each page through Django's
test client, once before the measurement. The ratio is the median over 300 ms. PostgreSQL is measured in a separate
database if ASSAY_BENCH_POSTGRES names a server, for example postgres://postgres@127.0.0.1:5432/postgres.

A job computes the report on all judgments, which takes seconds; its time is reported too. So are the times of the
snapshot preview of the round and of freezing it, which a lead waits for once.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from side_by_side import databases
from side_by_side.processes import child, measured_json
from side_by_side.rows import Row, note, options, print_table

LIMIT = 0.3
# What somebody waits for once a round is told against this, without a verdict.
MINUTE = 60.0
JUDGMENTS, FEW = 1_000_000, 30_000
# Those that the limit was set for; what else hangs on a round is told without a verdict.
LIMITED_PAGES = ("round_progress", "round_agreement")


def main() -> int:
    """Measure on every database that there is."""
    cases = {"sqlite": partial(measured, "SQLite"), "postgresql": partial(measured, "PostgreSQL")}
    return print_table(cases, options(__doc__, cases).parse_args())


def measured(title: str, args: argparse.Namespace) -> Iterator[Row]:
    """Fill a database, load the pages, and tell their times as shares of the limit."""
    if not databases.there(title.lower()):
        note(f"{title} is left out: set {databases.SERVER}")
        return
    count = FEW if args.quick else JUDGMENTS
    with databases.fresh(title.lower()) as environment:
        database = {name: environment[name] for name in ("DATABASE_URL", "ASSAY_VAR")}
        times_by_page: dict[str, Any] = measured_json(
            child("full_round", str(count), str((args.reps or 9) + 1)), **database
        )
    note(f"{title}: filled in {times_by_page['build']:.0f} s; the job's report takes {times_by_page['report']:.1f} s")
    for name, seconds in times_by_page["pages"].items():
        times = seconds[1:]
        at_most = 1.0 if name in LIMITED_PAGES and not args.quick else None
        summary = f"{statistics.median(times):.3f} s, {len(times)}x; first {times_by_page['before'][name][0]:.3f} s"
        ratios = [one / LIMIT for one in times]
        yield Row(f"{count:,} judgments, {title}: {name}", "300 ms", ratios, at_most, None, summary)
    for name, what in (("preview", "freeze preview"), ("freezing", "freezing")):
        summary = f"{times_by_page[name]:.1f} s, once"
        yield Row(
            f"{count:,} judgments, {title}: {what}", "a minute", [times_by_page[name] / MINUTE], None, None, summary
        )


if __name__ == "__main__":
    sys.exit(main())
