"""Synthetic large query log, and the polars baseline that reads and counts it.

    python query_log.py make FILE ROWS
    python query_log.py count FILE

Words, clients and times are generated from a fixed seed. Some texts are in capitals, have stray blanks or quotation
marks, and some are empty, as in a log of real searches.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path

SEED = 20260307
CHUNK = 250_000
CLIENTS = 400_000
BEGIN = 1_767_225_600
SYLLABLES = ["ba", "re", "ti", "lo", "mun", "sa", "ke", "vor", "pli", "né", "ta", "gur", "hö", "des", "fi"]


def make(path: Path, rows: int) -> None:
    """Write a log of so many searches, packed; an unfinished file never has its name."""
    import numpy as np

    random = np.random.default_rng(SEED)
    texts = np.array(_texts(max(1000, rows // 20), random))
    shares = (1 / np.arange(1, len(texts) + 1) ** 1.05).cumsum()
    part = path.with_suffix(".part")
    with part.open("wb") as raw, gzip.GzipFile("", "wb", 3, raw, 0) as packed:
        packed.write(b"query,client_id,timestamp,clicks\n")
        for begin in range(0, rows, CHUNK):
            size = min(CHUNK, rows - begin)
            chosen = texts[np.searchsorted(shares, random.random(size) * shares[-1])]
            clients = (random.pareto(1.2, size) * 50).astype(int) % CLIENTS
            moments = BEGIN + begin + np.sort(random.integers(0, size, size))
            kinds = random.random(size)
            lines = [
                f"{_typed(text, kind)},c{client},{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(moment))},\n"
                for text, client, moment, kind in zip(
                    chosen.tolist(), clients.tolist(), moments.tolist(), kinds.tolist(), strict=True
                )
            ]
            packed.write("".join(lines).encode())
    part.rename(path)


def _texts(number: int, random: object) -> list[str]:
    """Queries of one to four words of two or three syllables."""
    import numpy as np

    assert isinstance(random, np.random.Generator)
    words = ["".join(random.choice(SYLLABLES, random.integers(2, 4))) for _ in range(20_000)]
    lengths = random.integers(1, 5, number)
    picks = random.integers(0, len(words), (number, 4))
    return [" ".join(words[at] for at in row[:length]) for row, length in zip(picks, lengths, strict=True)]


def _typed(text: str, kind: float) -> str:
    if kind < 0.002:
        return ""
    if kind < 0.02:
        return text.upper()
    if kind < 0.035:
        return f"  {text} "
    return f'"{text}, new"' if kind < 0.036 else text


def count(path: Path) -> None:
    """Read the whole file and count each text with polars; print how many there are, and searches with one."""
    import polars as pl

    counted = pl.read_csv(path).group_by("query").len().filter(pl.col("query").is_not_null())
    print(json.dumps({"texts": counted.height, "searches": int(counted["len"].sum())}))


if __name__ == "__main__":
    act, file, *more = sys.argv[1:]
    if act == "make":
        make(Path(file), int(more[0]))
    else:
        count(Path(file))
