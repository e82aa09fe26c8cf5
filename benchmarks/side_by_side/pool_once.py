"""Time one pool over stored runs.

    python benchmarks/side_by_side/pool_once.py make FOLDER --queries N --depth N --runs N
    python benchmarks/side_by_side/pool_once.py pool FOLDER [--strategy NAME] [--depth N] [--stored]

``make`` writes runs that share about as many documents as real systems do: each query has three times as many
documents as a run returns. Each run is written as a TREC file and in the server's storage format. ``pool`` reads the
runs (with ``--stored`` those of the server) and prints JSON: the seconds from opening the first file to the finished
pool, the pairs, and the entries.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from data import decimal, run_lines, write

SEED = 8_140_227
SHARED = 3


def make(folder: Path, queries: int, depth: int, runs: int) -> None:
    """Write the runs that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    names = decimal(10_000 + np.arange(queries), 5)
    merit = np.random.default_rng([SEED, queries]).normal(size=(queries, SHARED * depth))
    for number in range(runs):
        path = folder / f"run-{number:02d}.txt"
        if not path.exists():
            rng = np.random.default_rng([SEED, queries, number])
            value = merit + rng.normal(size=merit.shape)
            best = np.argsort(-value, axis=1)[:, :depth]
            thousandths = (np.take_along_axis(value, best, axis=1) * 1000).astype(np.int64) + 20_000
            documents = decimal((best + 7_919 * np.arange(queries)[:, None]).ravel(), 8)
            write(path, [run_lines(names, documents, thousandths, b"sys%02d" % number)])
        if not path.with_suffix(".parquet").exists():
            store(path)


def store(path: Path) -> None:
    """Write the run as the server keeps it, beside the TREC file."""
    from assay.formats.qrels_and_runs import open_run
    from assay.formats.row_types import RunRow
    from assay.formats.stored_run import write_stored

    rows = open_run(path).rows()
    columns = (rows.query_ids, rows.doc_ids, rows.scores.tolist(), rows.ranks.astype(int).tolist())
    path.with_suffix(".parquet").write_bytes(write_stored([RunRow(*row) for row in zip(*columns, strict=True)])[0])


def pool(folder: Path, strategy: str, depth: int | None, stored: bool) -> dict[str, float]:
    """Read the runs and choose."""
    from assay.formats.qrels_and_runs import load_run
    from assay.formats.stored_run import StoredRun
    from assay.strategies.pool import build_pool

    began = time.perf_counter()
    paths = sorted(folder.glob("run-*.parquet" if stored else "run-*.txt"))
    runs = (
        StoredRun(path.read_bytes(), path.stem).whole() if stored else load_run(path, str(path), path.stem)[0]
        for path in paths
    )
    chosen = build_pool(runs, strategy, {"depth": depth} if depth else {}, seed=1)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "pairs": len(chosen), "entries": len(chosen.candidates.ranks)}


def main() -> None:
    """Make or pool."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=["make", "pool"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--strategy", default="depth")
    parser.add_argument("--stored", action="store_true")
    for name, default in (("queries", 5000), ("depth", 100), ("runs", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    if args.act == "make":
        make(args.folder, args.queries, args.depth, args.runs)
    else:
        print(json.dumps(pool(args.folder, args.strategy, args.depth, args.stored)))


if __name__ == "__main__":
    main()
