"""Time and memory of what a pipeline does with a server: push a large run, and report a change.

    python benchmarks/pipeline.py [--only CASE] [--reps N] [--quick] [--json FILE]

`push` runs the command ``assay push run`` on a run of 5 million rows, against a server that `manage.py serve` starts,
from the start of the command until the run is stored. The memory of the server is the highest sum over all of its
processes (proportional set size, Linux only). `report` runs ``assay gate --report --markdown`` on 500 queries with
1,000 documents each.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from first_run import free_port
from side_by_side import databases
from side_by_side.processes import CouldNotRun, Measured, child, measure
from side_by_side.rows import Row, options, print_table
from station_load import Server, aside, ready

ROWS, PUSH_SECONDS, CLIENT_MEGABYTES, SERVER_MEGABYTES = 5_000_000, 20.0, 100.0, 2048.0
QUERIES, DEPTH, JUDGED, REPORT_SECONDS = 500, 1000, 100, 10.0
EVERY = 0.25


def main() -> int:
    """Measure each case."""
    if sys.argv[1:] == ["--make"]:
        print(json.dumps(make()))
        return 0
    if sys.argv[1:2] == ["--write"]:
        write_change(Path(sys.argv[2]), int(sys.argv[3]))
        return 0
    cases = {"push": push, "report": report}
    return print_table(cases, options(__doc__, cases).parse_args())


def push(args: argparse.Namespace) -> Iterator[Row]:
    """Push a run and wait until it is stored."""
    rows = ROWS // 100 if args.quick else ROWS
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        path = Path(folder) / "run.txt"
        measure(child("large_files", "write", path, str(rows)))
        pushed, peaks = zip(*(push_once(path, rows) for _ in range(args.reps or 1)), strict=True)
    title, limit = f"assay push of {rows:,} rows, stored", None if args.quick else 1.0
    walls = [one.wall / PUSH_SECONDS for one in pushed]
    yield Row(title, f"the limit of {PUSH_SECONDS:g} s", walls, limit, None, seconds(pushed))
    client = [one.peak / CLIENT_MEGABYTES for one in pushed]
    yield Row(title, f"{CLIENT_MEGABYTES:g} MB of the client", client, limit, None, f"{pushed[0].peak:.0f} MB")
    if all(peaks):
        server = [peak / SERVER_MEGABYTES for peak in peaks]
        yield Row(title, f"{SERVER_MEGABYTES:g} MB of the server", server, limit, None, f"{max(peaks):.0f} MB")


def push_once(path: Path, rows: int) -> tuple[Measured, float]:
    """Push to a new server; return the measured command, and the peak of the server in MB."""
    with databases.fresh("sqlite") as environment:
        token = aside(environment, "--make", file=__file__)
        server = Server(environment, free_port())
        try:
            server.rest()
            address = ["--server", f"http://127.0.0.1:{server.port}", "--collection", "bench", "--token", token]
            command = [sys.executable, "-m", "assay", "push", "run", path, "--format", "json", *address]
            with Memory(server.process.pid) as memory:
                pushed = measure(command)
        finally:
            server.stop()
    stored = json.loads(pushed.output)
    if stored.get("rows") != rows:
        raise CouldNotRun(f"the server stored {stored}, not {rows:,} rows")
    return pushed, memory.peak


class Memory:
    """Highest memory of all processes of a group, in MB; 0 where the kernel does not report it."""

    def __init__(self, group: int) -> None:
        self.group, self.peak = group, 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(EVERY):
            self.peak = max(self.peak, sum(map(self._kilobytes, Path("/proc").glob("[0-9]*"))) / 1024)

    def _kilobytes(self, process: Path) -> int:
        try:
            if int((process / "stat").read_text().rpartition(")")[2].split()[2]) != self.group:
                return 0
            lines = (process / "smaps_rollup").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):  # the process ended meanwhile
            return 0


def report(args: argparse.Namespace) -> Iterator[Row]:
    """Write the change report of a candidate that changed every query."""
    queries = QUERIES // 10 if args.quick else QUERIES
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        measure([sys.executable, __file__, "--write", folder, str(queries)])
        command = [sys.executable, "-m", "assay", "gate", folder / "qrels.txt", "--baseline", folder / "old.run"]
        command += ["--candidate", folder / "new.run", "--rule", "drop(nDCG@10) <= 0.5"]
        command += ["--report", folder / "change.html", "--markdown", folder / "change.md"]
        reports = [measure(command) for _ in range(args.reps or 3)]
        if not (folder / "change.html").stat().st_size:
            raise CouldNotRun("the report is empty")
    walls = [one.wall / REPORT_SECONDS for one in reports]
    title, limit = f"change report of {queries} queries", None if args.quick else 1.0
    yield Row(title, f"the limit of {REPORT_SECONDS:g} s", walls, limit, None, seconds(reports))


def seconds(measured: Any) -> str:
    """Return the absolute times."""
    wall, cpu = (statistics.median(getattr(one, name) for one in measured) for name in ("wall", "cpu"))
    return f"{wall:.2f} s, cpu {cpu:.2f} s, {len(measured)}x"


def make() -> str:
    """An empty collection, and the token of its lead."""
    ready()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    from judgments.members import tokens
    from judgments.members.collections import create_collection
    from judgments.models import User

    lead = User.objects.create_user("bench")
    create_collection(actor=lead, slug="bench", name="Bench")
    return tokens.make_token(lead, name="bench", scopes=["read", "write"])[1]


def write_change(folder: Path, queries: int) -> None:
    """Qrels and two runs, in which a fifth of the first documents is unjudged."""
    draw = random.Random(17)
    names = [f"doc-{number:05d}" for number in range(DEPTH)]
    with (
        (folder / "qrels.txt").open("w") as qrels,
        (folder / "old.run").open("w") as old,
        (folder / "new.run").open("w") as new,
    ):
        for query in range(queries):
            judged = draw.sample(names, JUDGED)
            grades = {name: draw.choice((0, 0, 0, 1, 2, 3)) for name in judged}
            qrels.writelines(f"q{query} 0 {name} {grade}\n" for name, grade in grades.items())
            for file in (old, new):
                chances = {name: draw.random() + (0.5 + 0.2 * grades[name] if name in grades else 0) for name in names}
                order = sorted(names, key=chances.__getitem__, reverse=True)
                file.writelines(f"q{query} Q0 {name} {at} {DEPTH - at} x\n" for at, name in enumerate(order, 1))


if __name__ == "__main__":
    sys.exit(main())
