"""Idle time of a machine judge's model, and memory held, when it grades thousands of pairs.

    python benchmarks/judging.py [--only CASE] [--reps N] [--quick]

The model is a separate process that answers each request after 200 ms, with 32 requests at once. Ideally it is never
idle: pairs x 0.2 s / 32. `command` is all of ``assay judge``, including start, reading, ledger and labels; `critic`
is all of ``assay rag`` with a faithfulness critic; `sqlite` and `postgresql` are the server's job on a round, from
queued to succeeded, with every answer committed. PostgreSQL is measured if ASSAY_BENCH_POSTGRES names a server.
`wide` is the command against a model that takes a second, with 32, 128 and 256 requests in flight in turn. `memory`
is the command over ten times as many pairs, with a judge that calls a model and with one that calls none: its memory
must not grow with the number of pairs. With --full there are a million pairs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from side_by_side import databases
from side_by_side.judged_round import text_of
from side_by_side.processes import HERE, ROOT, CouldNotRun, Measured, child, measure
from side_by_side.rows import Row, note, options, print_table

SECONDS, AT_ONCE = 0.2, 32
PAIRS, QUICK = 10_000, 640
# A model that thinks, how many are asked at once, and how often each of them is.
LONG, WIDE, TURNS, QUICK_TURNS = 1.0, (32, 128, 256), 30, 4
CHARACTERS, SHORT = 2_000, 300
# Nine tenths of the ideal throughput.
LIMIT, MEGABYTES = 1 / 0.9, 300.0
RUN = "from assay.cli import run_process; run_process()"


# Pairs of the case `memory`: few, many, and with --full.
FEW, MANY, MILLION = 10_000, 100_000, 1_000_000
# How much more many of them may take: tables on disk fill their cache.
GROWTH = 1.3


def main() -> int:
    """Measure."""
    cases = {
        "command": command,
        "critic": critic,
        "wide": wide,
        "memory": memory,
        "sqlite": partial(job, "sqlite"),
        "postgresql": partial(job, "postgresql"),
    }
    return print_table(cases, options(__doc__, cases).parse_args())


def command(args: argparse.Namespace) -> Iterator[Row]:
    """Grade all pairs, answers and ledger written as they come."""
    number = QUICK if args.quick else PAIRS
    with tempfile.TemporaryDirectory(prefix="assay-judging-") as folder, model() as url:
        write_pairs(Path(folder) / "pairs.jsonl", number)
        runs = [judged(Path(folder), url, number) for _ in range(args.reps or 1)]
    yield from throughput_row(f"assay judge, {number:,} pairs", number, runs, args.quick)


def critic(args: argparse.Namespace) -> Iterator[Row]:
    """Score the faithfulness of all answers with ``assay rag``, every call in the ledger."""
    number = QUICK if args.quick else PAIRS
    with tempfile.TemporaryDirectory(prefix="assay-judging-") as folder, model(text="0.75") as url:
        write_outputs(Path(folder), number)
        runs = [scored(Path(folder), url, number) for _ in range(args.reps or 1)]
    yield from throughput_row(f"assay rag, {number:,} answers", number, runs, args.quick)


def wide(args: argparse.Namespace) -> Iterator[Row]:
    """Grade pairs with ever more questions in flight."""
    turns = QUICK_TURNS if args.quick else TURNS
    with tempfile.TemporaryDirectory(prefix="assay-judging-") as folder, model(LONG) as url:
        for at_once in WIDE:
            number = at_once * turns
            write_pairs(Path(folder) / "pairs.jsonl", number)
            runs = [judged(Path(folder), url, number, at_once) for _ in range(args.reps or 1)]
            title = f"assay judge, {number:,} pairs, 1 s each"
            yield next(throughput_row(title, number, runs, args.quick, seconds=LONG, at_once=at_once))


def memory(args: argparse.Namespace) -> Iterator[Row]:
    """Grade few pairs and many, and hold no more of the many."""
    many = MILLION if args.full else MANY
    sizes = (QUICK, 10 * QUICK) if args.quick else (FEW, many)
    with tempfile.TemporaryDirectory(prefix="assay-judging-") as folder, model(0.0) as url:
        for title, own in (("a model", None), ("token_overlap", ["--judge", "token_overlap", "--min-tokens", "1"])):
            peaks = []
            for number in sizes:
                write_pairs(Path(folder) / "pairs.jsonl", number, characters=SHORT)
                peaks.append(judged(Path(folder), url, number, own=own).peak)
            name, summary = f"{title}, {sizes[1]:,} pairs, peak", f"{peaks[1]:.0f} MB : {peaks[0]:.0f} MB"
            limits = (None, None) if args.quick else (1.0, GROWTH)
            yield Row(name, f"{MEGABYTES:.0f} MB", [peaks[1] / MEGABYTES], limits[0], None, summary)
            yield Row(name, f"that of {sizes[0]:,} pairs", [peaks[1] / peaks[0]], limits[1], None, summary)


def job(database: str, args: argparse.Namespace) -> Iterator[Row]:
    """Grade all pairs of a round, every answer committed before the next question."""
    if not databases.there(database):
        note(f"{database} is left out: set {databases.SERVER}")
        return
    number = QUICK if args.quick else PAIRS
    runs = []
    with model() as url:
        for _ in range(args.reps or 1):
            with databases.fresh(database) as environment:
                inside(environment, "make", number, url, CHARACTERS, AT_ONCE)
                result = inside(environment, "work")
            if (result["graded"], result["calls"]) != (number, number):
                raise CouldNotRun(f"{result['graded']} of {number} pairs were graded: {result['said']}")
            runs.append(Measured(result["wall"], result["cpu"], result["peak"], "", ""))
    yield from throughput_row(f"the job on {database}, {number:,} pairs", number, runs, args.quick)


def inside(environment: dict[str, str], *words: str | int) -> dict[str, Any]:
    """Have a process of its own make the round, or do the job; what it tells."""
    line = child("judged_round", *map(str, words))
    done = subprocess.run(line, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CouldNotRun(done.stderr.strip()[-2000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def throughput_row(
    title: str, number: int, runs: Sequence[Measured], quick: bool, *, seconds: float = SECONDS, at_once: int = AT_ONCE
) -> Iterator[Row]:
    """A row for the time and one for the memory."""
    ideal = number * seconds / at_once
    walls, peaks = [run.wall for run in runs], [run.peak for run in runs]
    times = f"{statistics.median(walls):.1f} s : {ideal:.1f} s, cpu {statistics.median(run.cpu for run in runs):.1f} s"
    limits = (None, None) if quick else (LIMIT, 1.0)
    yield Row(title, f"{at_once} always in flight", [wall / ideal for wall in walls], limits[0], None, times)
    memory = f"{statistics.median(peaks):.0f} MB"
    yield Row(f"{title}, peak", f"{MEGABYTES:.0f} MB", [peak / MEGABYTES for peak in peaks], limits[1], None, memory)


def judged(
    folder: Path, url: str, number: int, at_once: int = AT_ONCE, *, own: Sequence[str] | None = None
) -> Measured:
    """Run the command once, from nothing: by the slow model, or by the judge that these words name."""
    for name in ("labels.jsonl", "labels.ledger.jsonl"):
        (folder / name).unlink(missing_ok=True)
    slow = ["--judge", "graded", "--model", "slow", "--base-url", url, "--concurrency", str(at_once)]
    slow += ["--price-in", "1", "--price-out", "4"]
    words = ["judge", folder / "pairs.jsonl", "--out", folder / "labels.jsonl", *(own or slow)]
    run = measure([sys.executable, "-c", RUN, *words])
    with (folder / "labels.jsonl").open() as labels:
        if (graded := sum('"outcome": "graded"' in line for line in labels)) != number:
            raise CouldNotRun(f"{graded} of {number} pairs were graded: {run.errors[-300:]}")
    return run


def scored(folder: Path, url: str, number: int) -> Measured:
    """Run ``assay rag`` once with a critic, from nothing."""
    (folder / "scores.ledger.jsonl").unlink(missing_ok=True)
    words = [
        "rag",
        folder / "samples.jsonl",
        folder / "outputs.jsonl",
        "-m",
        "LLMFaithfulnessScore",
        "--format",
        "json",
    ]
    words += [
        "--model",
        "slow",
        "--base-url",
        url,
        "--concurrency",
        str(AT_ONCE),
        "--price-in",
        "1",
        "--price-out",
        "4",
    ]
    run = measure([sys.executable, "-c", RUN, *words, "--out", folder / "scores.json"])
    (system,) = json.loads((folder / "scores.json").read_text())["systems"]
    metric = system["metrics"]["LLMFaithfulnessScore"]
    if (metric["value"], metric["details"]["num_samples"]) != (0.75, number):
        raise CouldNotRun(f"{metric['details']} of {number} answers were scored: {run.errors[-300:]}")
    return run


def write_outputs(folder: Path, number: int) -> None:
    """Samples with an answer and two documents each, as long as pairs."""
    with (folder / "samples.jsonl").open("w") as samples, (folder / "outputs.jsonl").open("w") as outputs:
        for place in range(number):
            sample = {"sample_id": f"s{place}", "query": f"Which tent is number {place}?", "reference_answer": "this"}
            texts = [text_of(2 * place + at, CHARACTERS // 2) for at in (0, 1)]
            output = {"sample_id": f"s{place}", "response": f"The tent {place} is for two.", "contexts": texts}
            samples.write(json.dumps(sample) + "\n")
            outputs.write(json.dumps(output) + "\n")


def write_pairs(path: Path, number: int, *, characters: int = CHARACTERS) -> None:
    """Pairs of documents that differ, as long as a product's page."""
    with path.open("w") as stream:
        for place in range(number):
            row = {"query_id": f"q{place // 50}", "query": "rain tent", "doc_id": f"d{place}"}
            row["text"], row["expected"] = text_of(place, characters), "rain"
            stream.write(json.dumps(row) + "\n")


@contextmanager
def model(seconds: float = SECONDS, text: str | None = None) -> Iterator[str]:
    """Serve the slow model, and answer where it is."""
    process = subprocess.Popen(
        [sys.executable, HERE / "slow_model.py", str(seconds), *([] if text is None else [text])],
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
