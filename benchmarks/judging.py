"""How much of a model's time is lost, and how much memory held, when a command asks it about thousands of pairs?

    python benchmarks/judging.py [--reps N] [--quick]

The model is a process of its own that answers each question after 200 ms; 32 are asked at once. Ideal is that it is
never idle: pairs x 0.2 s / 32. The clock runs for the whole command, start, reading, ledger and labels included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from side_by_side.processes import HERE, CouldNotRun, Measured, measure
from side_by_side.rows import Row, options, tell

SECONDS, AT_ONCE = 0.2, 32
PAIRS, QUICK = 10_000, 640
CHARACTERS = 2_000
# Nine tenths of the ideal throughput.
LIMIT, MEGABYTES = 1 / 0.9, 300.0
RUN = "from assay.cli.process import run; run()"


def main() -> int:
    """Measure."""
    cases = {"graded": graded}
    return tell(cases, options(__doc__, cases).parse_args())


def graded(asked: argparse.Namespace) -> Iterator[Row]:
    """Grade all pairs, answers and ledger written as they come."""
    number = QUICK if asked.quick else PAIRS
    with tempfile.TemporaryDirectory(prefix="assay-judging-") as folder, model() as url:
        write_pairs(Path(folder) / "pairs.jsonl", number)
        runs = [judged(Path(folder), url, number) for _ in range(asked.reps or 1)]
    ideal = number * SECONDS / AT_ONCE
    walls, peaks = [run.wall for run in runs], [run.peak for run in runs]
    told = f"{statistics.median(walls):.1f} s : {ideal:.1f} s, cpu {statistics.median(run.cpu for run in runs):.1f} s"
    title = f"assay judge, {number:,} pairs"
    limits = (None, None) if asked.quick else (LIMIT, 1.0)
    yield Row(title, f"{AT_ONCE} always in flight", [wall / ideal for wall in walls], limits[0], None, told)
    memory = f"{statistics.median(peaks):.0f} MB"
    yield Row(f"{title}, peak", f"{MEGABYTES:.0f} MB", [peak / MEGABYTES for peak in peaks], limits[1], None, memory)


def judged(folder: Path, url: str, number: int) -> Measured:
    """Run the command once, from nothing."""
    for name in ("labels.jsonl", "labels.ledger.jsonl"):
        (folder / name).unlink(missing_ok=True)
    words = ["judge", folder / "pairs.jsonl", "--judge", "graded", "--model", "slow", "--base-url", url]
    words += ["--concurrency", str(AT_ONCE), "--out", folder / "labels.jsonl", "--price-in", "1", "--price-out", "4"]
    run = measure([sys.executable, "-c", RUN, *words])
    with (folder / "labels.jsonl").open() as labels:
        if (found := sum('"grade": 2' in line for line in labels)) != number:
            raise CouldNotRun(f"{found} of {number} pairs were graded: {run.errors[-300:]}")
    return run


def write_pairs(path: Path, number: int) -> None:
    """Pairs of documents that differ, as long as a product's page."""
    words = ("light", "tent", "for", "two", "with", "a", "second", "door", "and", "seams", "against", "heavy", "rain")
    with path.open("w") as stream:
        for place in range(number):
            body = " ".join(words[(place * 7 + at * (place % 5 + 1)) % len(words)] for at in range(CHARACTERS // 5))
            text = f"Document {place}. {body}"[:CHARACTERS]
            row = {"query_id": f"q{place // 50}", "query": "rain tent", "doc_id": f"d{place}", "text": text}
            stream.write(json.dumps(row) + "\n")


@contextmanager
def model() -> Iterator[str]:
    """Serve the slow model, and answer where it is."""
    process = subprocess.Popen(
        [sys.executable, HERE / "slow_model.py", str(SECONDS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    sys.exit(main())
