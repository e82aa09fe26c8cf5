"""Time and memory that the metrics of RAG answers take, against limits and against the libraries they follow.

    python benchmarks/rag.py [--only CASE] [--reps N] [--quick] [--json FILE]

`lexical`: `assay rag` with all metrics that compare words over 10,000 samples, with intervals, from start to exit;
beside it rouge-score and sacrebleu alone on the same files, which must find the same ROUGE and BLEU. `embeddings`:
EmbeddingSimilarity beside sentence-transformers alone on the same texts, without the start and the loading of the
model. It needs the extra semantic and a model: `make test-semantic` installs both, and ASSAY_BENCH_PYTHON names that
Python.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from side_by_side.processes import Command, CouldNotRun, Measured, child, measure, python_with
from side_by_side.rows import Row, note, options, print_table

SAMPLES, QUICK = 10_000, 300
LEXICAL = "ExactMatch TokenF1 Rouge1 Rouge2 RougeL BleuScore EvidenceOverlapFaithfulness DistinctN"
SECONDS, MEGABYTES = 20.0, 600.0
# Texts of the model's case: encoding takes milliseconds a text.
EMBEDDED, FEW = 200, 20
SLOWER = 1.3
CLOSE = 1e-9
# Cosines of single precision: batches of other sizes round otherwise.
NEAR = 1e-5


def main() -> int:
    """Measure every case that was asked for."""
    cases = {"lexical": lexical, "embeddings": embeddings}
    return print_table(cases, options(__doc__, cases).parse_args())


def lexical(args: argparse.Namespace) -> Iterator[Row]:
    """All lexical metrics, with the peers' time for two of them beside."""
    number = QUICK if args.quick else SAMPLES
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        size = ("--samples", str(number), "--folder", folder)
        measure(child("rag_answers", "write", *size))
        paths = [f"{folder}/{name}.jsonl" for name in ("samples", "outputs")]
        command: Command = [sys.executable, "-m", "assay", "rag", *paths, "-m", LEXICAL, "--format", "json"]
        peers = child("rag_answers", "peers", *size, python=python_with("rouge_score") or sys.executable)
        measurements = [(measure(command), measure(peers)) for _ in range(args.reps or 3)]
    (system,) = json.loads(measurements[0][0].output)["systems"]
    check({label: score["value"] for label, score in system["metrics"].items()}, values(measurements[0][1]), CLOSE)
    title, limit = f"lexical metrics of {number:,} answers", None if args.quick else 1.0
    walls = [statistics.median(one.wall for one in sides) for sides in zip(*measurements, strict=True)]
    ours = [mine for mine, _ in measurements]
    cpu = statistics.median(one.cpu for one in ours)
    yield Row(title, f"the limit of {SECONDS:g} s", [one.wall / SECONDS for one in ours], limit, None,
              f"{walls[0]:.1f} s, cpu {cpu:.1f} s, {len(measurements)}x")  # fmt: skip
    peak = statistics.median(one.peak for one in ours)
    memory = [one.peak / MEGABYTES for one in ours]
    yield Row(title, f"the limit of {MEGABYTES:g} MB", memory, limit, None, f"{peak:.0f} MB")
    ratios = [mine.wall / other.wall for mine, other in measurements]
    yield Row(title, "rouge-score and sacrebleu alone", ratios, None, None, f"{walls[0]:.1f} s : {walls[1]:.1f} s")


def embeddings(args: argparse.Namespace) -> Iterator[Row]:
    """EmbeddingSimilarity beside the encoding of the same texts."""
    python = python_with("sentence_transformers")
    if python is None:
        note("embeddings: left out, sentence-transformers is not installed (make test-semantic installs it)")
        return
    number = FEW if args.quick else EMBEDDED
    pairs = []
    for at in range(args.reps or 3):
        turn = ("similarity", "encode") if at % 2 == 0 else ("encode", "similarity")
        both = {name: json.loads(side(name, number, python).output) for name in turn}
        pairs.append((both["similarity"], both["encode"]))
    check(pairs[0][0]["values"], pairs[0][1]["values"], NEAR)
    seconds = [statistics.median(one["seconds"] for one in sides) for sides in zip(*pairs, strict=True)]
    yield Row(
        f"EmbeddingSimilarity of {number:,} answers",
        "sentence-transformers alone",
        [mine["seconds"] / other["seconds"] for mine, other in pairs],
        None if args.quick else SLOWER,
        None,
        f"{seconds[0]:.1f} s : {seconds[1]:.1f} s, {len(pairs)}x",
    )


def side(name: str, number: int, python: str = sys.executable) -> Measured:
    """Run one side in a process of its own."""
    return measure(child("rag_answers", name, "--samples", str(number), python=python))


def values(measured: Measured) -> dict[str, Any]:
    """Return the values that a side printed."""
    return dict(json.loads(measured.output)["values"])


def check(ours: dict[str, Any], theirs: dict[str, Any], close: float) -> None:
    """See that both sides compute the same."""
    for name, value in theirs.items():
        mine = next(one for label, one in ours.items() if label.startswith(name))
        if abs(mine - value) > close * max(1.0, abs(value)):
            raise CouldNotRun(f"{name} is {mine}, the peer's {value}")


if __name__ == "__main__":
    sys.exit(main())
