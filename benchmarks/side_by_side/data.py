"""Synthetic runs and labels with ties for the evaluation benchmarks, generated from a seed.

    python benchmarks/side_by_side/data.py FOLDER SHAPE --queries N --depth K --runs R

Writes FOLDER/qrels.txt, FOLDER/run-00.txt and so on, and skips files that this version of the script already wrote.
There are two shapes:

passages
    Short numeric ids, about one relevant document per query and no other judgments, as in a passage collection.
pages
    Ids of 30 characters and a deep pool of grades 0 to 3 for each query, as in a track of an evaluation campaign.

Scores have three decimals, so they tie. The rank column is the order in which the documents were generated, which is
not the order of tied documents by id. Each run omits some queries.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

SEED = 8_140_227
# Passages: how many there are, and how often the relevant one is found at all.
PASSAGES, RETRIEVAL_RATE = 8_841_823, 0.86
MOST_RELEVANT = 3
# Pages: how many there are, how many of them could answer a query, and what each grade asks for.
PAGES, CANDIDATES = 40_000, 15_000
GRADES_FROM = (1.7, 2.4, 3.1)
QUERIES_AT_ONCE = 500


def write(path: Path, blocks: Iterable[Bytes]) -> None:
    """Write a file at once or not at all, so that an interrupted run leaves no half of one behind."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        for block in blocks:
            file.write(block[block != 0].tobytes())
    os.replace(unfinished, path)


def lines(*fields: Bytes | bytes) -> Bytes:
    """Put fields beside each other: a table of characters, one line a row, in which 0 stands for no character."""
    rows = next(len(field) for field in fields if not isinstance(field, bytes))
    spread = [
        np.broadcast_to(np.frombuffer(field, dtype=np.uint8), (rows, len(field))) if isinstance(field, bytes) else field
        for field in fields
    ]
    return np.hstack(spread)


def decimal(numbers: Numbers, width: int, *, padded: bool = False) -> Bytes:
    """Write numbers of at most ``width`` digits, with leading zeros only if padded."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.uint32)
    whole = numbers.astype(np.uint32)[:, None]
    digits = (whole // powers % 10 + 48).astype(np.uint8)
    if not padded:
        digits[:, :-1][whole < powers[:-1]] = 0
    return digits


def score(thousandths: Numbers) -> Bytes:
    """Write a positive score with its three decimals."""
    return lines(decimal(thousandths // 1000, 3), b".", decimal(thousandths % 1000, 3, padded=True))


def run_lines(queries: Bytes, documents: Bytes, thousandths: Numbers, tag: bytes) -> Bytes:
    """Make the lines of whole queries; ``thousandths`` has the shape (queries, depth) and gives the ranks."""
    depth = thousandths.shape[1]
    ranks = decimal(np.arange(1, depth + 1), len(str(depth)))
    return lines(
        np.repeat(queries, depth, axis=0),
        b" Q0 ",
        documents,
        b" ",
        np.tile(ranks, (len(queries), 1)),
        b" ",
        score(thousandths.ravel()),
        b" " + tag + b"\n",
    )


class Passages:
    """Many queries, one relevant passage each."""

    depth_made = 1000

    def __init__(self, queries: int, depth: int, runs: int) -> None:
        rng = np.random.default_rng([SEED, 1, queries])
        self.depth = depth
        self.names = decimal(np.sort(rng.choice(1_200_000, queries, replace=False)), 7)
        self.relevant = rng.integers(PASSAGES, size=(queries, MOST_RELEVANT))
        self.relevant[:, 1:] = (self.relevant[:, :1] + [7, 7007]) % PASSAGES
        self.count = 1 + (rng.random(queries) < 0.06) + (rng.random(queries) < 0.02)

    def qrels(self) -> Iterator[Bytes]:
        """One relevant passage a query, seldom two or three; the rest is unjudged."""
        there = np.arange(MOST_RELEVANT) < self.count[:, None]
        queries = np.repeat(self.names, self.count, axis=0)
        yield lines(queries, b" 0 ", decimal(self.relevant[there], 7), b" 1\n")

    def run(self, number: int) -> Iterator[Bytes]:
        """Passages at random with the relevant ones among them, more often high than low; one query in 1,000 is out."""
        rng = np.random.default_rng([SEED, 2, number])
        answered = np.flatnonzero(np.arange(len(self.names)) % 1000 != (999 + number) % 1000)
        for start in range(0, len(answered), QUERIES_AT_ONCE):
            at = answered[start : start + QUERIES_AT_ONCE]
            documents = self._documents(rng, at)[:, : self.depth]
            values = np.sort(rng.gumbel(18.0, 3.0, (len(at), self.depth_made)), axis=1)[:, ::-1]
            thousandths = np.maximum(values * 1000, 1).astype(np.int64)[:, : self.depth]
            yield run_lines(self.names[at], decimal(documents.ravel(), 7), thousandths, b"sys%02d" % number)

    def _documents(self, rng: np.random.Generator, at: Numbers) -> Numbers:
        place = np.exp(rng.random((len(at), MOST_RELEVANT)) * np.log(self.depth_made)).astype(np.int64) - 1
        retrieved = (rng.random(place.shape) < RETRIEVAL_RATE) & (np.arange(MOST_RELEVANT) < self.count[at][:, None])
        row, column = np.nonzero(retrieved)
        documents = np.empty((len(at), self.depth_made), dtype=np.int64)
        again = np.arange(len(at))
        while len(again):
            documents[again] = rng.integers(PASSAGES, size=(len(again), self.depth_made))
            documents[row, place[row, column]] = self.relevant[at][row, column]
            sorted_rows = np.sort(documents, axis=1)
            # Only a query that holds a passage twice is drawn again; a file with duplicates would be refused.
            again = np.flatnonzero((sorted_rows[:, 1:] == sorted_rows[:, :-1]).any(axis=1))
        return documents


class Pages:
    """Few queries, many graded pages each; better and worse systems."""

    def __init__(self, queries: int, depth: int, runs: int) -> None:
        # The pool of one run is a little deeper than what each of sixty runs brings.
        self.depth, self.runs, self.judged = depth, runs, 1440 if runs == 1 else 950
        self.names = decimal(100 + 13 * np.arange(queries), 4)
        digests = [hashlib.sha256(b"%d page %d" % (SEED, page)).hexdigest()[:25] for page in range(PAGES)]
        table = np.frombuffer("".join("page-" + digest for digest in digests).encode(), dtype=np.uint8)
        self.ids = table.reshape(PAGES, 30)

    def qrels(self) -> Iterator[Bytes]:
        """The most promising pages of each query with a grade of 0 to 3."""
        for query in range(len(self.names)):
            pages, merit = self._pages(query)
            rng = np.random.default_rng([SEED, 4, query])
            count = int(self.judged * rng.uniform(0.7, 1.3))
            judged = np.argsort(-(merit + 0.7 * rng.standard_normal(CANDIDATES)), kind="stable")[:count]
            grades = np.digitize(merit[judged] + 0.5 * rng.standard_normal(count), GRADES_FROM)
            names = np.repeat(self.names[query : query + 1], count, axis=0)
            yield lines(names, b" 0 ", self.ids[pages[judged]], b" ", decimal(grades.astype(np.int64), 1), b"\n")

    def run(self, number: int) -> Iterator[Bytes]:
        """Pages by merit and noise, the more noise the higher the number; every second run leaves a query out."""
        noise = 0.4 + 1.6 * number / max(1, self.runs - 1)
        for query in range(len(self.names)):
            if number % 2 == 0 and query == (7 * number + 3) % len(self.names):
                continue
            pages, merit = self._pages(query)
            rng = np.random.default_rng([SEED, 5, query, number])
            value = merit + noise * rng.standard_normal(CANDIDATES)
            top = np.argpartition(-value, self.depth)[: self.depth]
            top = top[np.argsort(-value[top], kind="stable")]
            thousandths = np.maximum(value[top] * 3000 + 10_000, 1).astype(np.int64)[None, :]
            yield run_lines(self.names[query : query + 1], self.ids[pages[top]], thousandths, b"sys%02d" % number)

    def _pages(self, query: int) -> tuple[Numbers, npt.NDArray[np.float64]]:
        rng = np.random.default_rng([SEED, 3, query])
        return rng.permutation(PAGES)[:CANDIDATES], rng.standard_normal(CANDIDATES)


SHAPES: dict[str, type[Passages] | type[Pages]] = {"passages": Passages, "pages": Pages}


def make(folder: Path, shape: str, queries: int, depth: int, runs: int) -> None:
    """Write what is missing of a case, and all of it when another state of this file made what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    maker, made_by = hashlib.sha256(Path(__file__).read_bytes()).hexdigest(), folder / "made-by.txt"
    if not made_by.exists() or made_by.read_text() != maker:
        for path in [folder / "qrels.txt", *folder.glob("run-*.txt")]:
            path.unlink(missing_ok=True)
        made_by.write_text(maker)
    made = SHAPES[shape](queries, depth, runs)
    if not (folder / "qrels.txt").exists():
        write(folder / "qrels.txt", made.qrels())
    for number in range(runs):
        path = folder / f"run-{number:02d}.txt"
        if not path.exists():
            write(path, made.run(number))


def main() -> None:
    """Read the arguments and make one case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("shape", choices=sorted(SHAPES))
    for name in ("queries", "depth", "runs"):
        parser.add_argument(f"--{name}", type=int, required=True)
    args = parser.parse_args()
    make(args.folder, args.shape, args.queries, args.depth, args.runs)


if __name__ == "__main__":
    main()
