"""Large files of invented rows, and what a peer makes of one.

    python benchmarks/side_by_side/large_files.py write FILE ROWS
    python benchmarks/side_by_side/large_files.py peer RATINGS

The name of the file says what stands in it. The peer runs in whatever Python has it, so this imports nothing of ours.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

RATERS = 8
HEADERS = {
    "ratings.csv": "query_id,doc_id,rater,grade",
    "qrels.csv": "query_id,doc_id,grade",
    "counted.csv": "query,count",
    "quepid.csv": "query,docid,rating",
}


def lines(name: str, rows: int) -> Iterator[str]:
    """Yield the lines of a file, the same at each call."""
    draw = random.Random(5_031)
    if name in HEADERS:
        yield HEADERS[name]
    for row in range(rows):
        if name == "ratings.csv":
            pair, grade = row // 3, min(3, (row // 3) % 4 + (draw.random() < 0.2))
            yield f"q{pair // 100:05d},doc-{pair * 7919 % 10**8:08d},r{(pair + row % 3) % RATERS:02d},{grade}"
        elif name == "qrels.txt":
            yield f"{row // 150} 0 doc-{row * 7919 % 10**9:09d} {row % 4}"
        elif name == "qrels.csv":
            yield f"{row // 150},doc-{row * 7919 % 10**9:09d},{row % 4}"
        elif name == "quepid.csv":
            yield f"shoes of size {row // 150},doc-{row * 7919 % 10**9:09d},{row % 4}"
        elif name == "run.txt":
            yield f"{row // 1000} Q0 doc-{row * 7919 % 10**9:09d} {row % 1000 + 1} {30 - row % 1000 * 0.02:.4f} bm25"
        else:
            yield f'"red, size {row}",{draw.randrange(1, 500)}' if row % 30 == 0 else f"shoes {row},{row % 500 + 1}"


def alpha(path: str) -> float:
    """Return Krippendorff's ordinal alpha as polars and krippendorff find it."""
    import krippendorff
    import numpy as np
    import polars as pl

    table = pl.read_csv(path)
    pair = pl.struct("query_id", "doc_id").rank("dense") - 1
    counts = table.group_by(pair.alias("pair"), "grade").len()
    grades = np.array(sorted(counts["grade"].unique()))
    values = np.zeros((int(counts["pair"].max()) + 1, len(grades)), dtype=np.int64)  # type: ignore[arg-type]
    values[counts["pair"].to_numpy(), np.searchsorted(grades, counts["grade"].to_numpy())] = counts["len"].to_numpy()
    alpha_value = krippendorff.alpha(
        value_counts=values, value_domain=grades.astype(float), level_of_measurement="ordinal"
    )
    return float(alpha_value)


def main() -> None:
    """Write a file, or print the peer's number."""
    verb, path, *rows = sys.argv[1:]
    if verb == "peer":
        print(repr(alpha(path)))
        return
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines(Path(path).name, int(rows[0])))


if __name__ == "__main__":
    main()
