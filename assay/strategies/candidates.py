"""Candidate pairs of many runs, with the runs and ranks that return them, for millions of rows.

Every pair that any run returns is one row, followed by the runs that return it. Each row is identified by a number, so
that the union of many runs is only a sort.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_column import MIX, SPREAD, Keys, Places, Texts, spans

if TYPE_CHECKING:
    from assay.core.run import Run

Numbers = npt.NDArray[np.int32]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """The first rows of one run, detached from its file; rank 0 means a given pair."""

    name: str
    query_ids: tuple[str, ...]
    sizes: Places
    doc_ids: Texts
    ranks: Numbers

    @classmethod
    def of(cls, run: Run, depth: int | None, queries: frozenset[str] | None) -> Part:
        sizes = np.diff(run.offsets)
        if depth is not None:
            sizes = np.minimum(sizes, depth)
        if queries is not None:
            sizes = np.where([query_id in queries for query_id in run.query_ids], sizes, 0)
        some = np.flatnonzero(sizes)
        sizes = sizes[some]
        ranks = spans(np.ones(len(sizes), dtype=np.int64), sizes).astype(np.int32)
        rows = spans(run.offsets[:-1][some], sizes)
        names = tuple(run.query_ids[at] for at in some.tolist())
        return cls(run.name, names, sizes, compact(run.doc_ids.take(rows)), ranks)

    @classmethod
    def given(cls, pairs: Sequence[Pair], queries: frozenset[str] | None) -> Part:
        wanted = sorted(pair for pair in pairs if queries is None or pair[0] in queries)
        ones = np.ones(len(wanted), dtype=np.int64)
        names = tuple(query_id for query_id, _ in wanted)
        return cls("", names, ones, Texts.of([doc_id for _, doc_id in wanted]), np.zeros(len(wanted), dtype=np.int32))


@dataclass(frozen=True, slots=True)
class Keyed:
    """The encoding of a pair as a number: the query in the first bits, then the document, the last bits for the run."""

    queries: int
    parts: int
    salt: int

    def keys(self, query: Places, doc_ids: Texts) -> Keys:
        bits, free = np.uint64(max(self.queries, 2).bit_length()), np.uint64(self.parts.bit_length())
        own = mixed(doc_ids.keys() + np.uint64(self.salt)) if self.salt else doc_ids.keys()
        return (query.astype(np.uint64) << (np.uint64(64) - bits)) | (own >> (bits + free) << free)


@dataclass(frozen=True, slots=True)
class Block:
    """The pairs of some queries, with the query, document, number, and number of run entries of each."""

    query: Places
    doc_ids: Texts
    keys: Keys
    counts: Places
    runs: Numbers
    ranks: Numbers

    @classmethod
    def of(cls, parts: Sequence[Part], coded: Sequence[Places], begin: int, end: int, keyed: Keyed) -> Block | None:
        """Combine the rows of these queries; None if two documents have the same number."""
        cut = [np.searchsorted(codes, (begin, end)) for codes in coded]
        rows = [slice(*np.append(0, np.cumsum(part.sizes))[at].tolist()) for part, at in zip(parts, cut, strict=True)]
        query = np.concatenate(
            [np.repeat(c[slice(*at)], p.sizes[slice(*at)]) for p, c, at in zip(parts, coded, cut, strict=True)]
        )
        ranks = np.concatenate([part.ranks[some] for part, some in zip(parts, rows, strict=True)])
        owner = np.repeat(np.arange(len(parts), dtype=np.int32), [some.stop - some.start for some in rows])
        doc_ids = Texts.joined([part.doc_ids.take(some) for part, some in zip(parts, rows, strict=True)])
        if not len(query):
            return cls(query, doc_ids, np.zeros(0, dtype=np.uint64), query, owner, ranks)
        keys = keyed.keys(query, doc_ids)
        order = np.argsort(keys | owner.astype(np.uint64))
        ascending = keys[order]
        first = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
        head = order[first]
        if not doc_ids.same(order, doc_ids, np.repeat(head, np.diff(np.append(first, len(order))))).all():
            return None
        there = ranks[order] > 0
        counts = np.add.reduceat(there, first, dtype=np.int64)
        inside = order[there]
        return cls(query[head], compact(doc_ids.take(head)), ascending[first], counts, owner[inside], ranks[inside])


def compact(texts: Texts) -> Texts:
    """Copy only a column's own bytes, so that the underlying file can be released."""
    sizes = texts.ends - texts.starts
    ends = np.cumsum(sizes)
    buffer = np.concatenate([texts.buffer[spans(texts.starts, sizes)], np.zeros(8, dtype=np.uint8)])
    return Texts(buffer, ends - sizes, ends)


def mixed(keys: Keys) -> Keys:
    """Mix the bits of a number."""
    keys = (keys ^ (keys >> np.uint64(30))) * MIX
    keys = (keys ^ (keys >> np.uint64(27))) * SPREAD
    return keys ^ (keys >> np.uint64(31))


# Two documents of one query share a key once in many billion pools; another salt then separates them.
SALTS = 8
# The approximate number of rows sorted at once.
BLOCK = 500_000


@dataclass(frozen=True, eq=False)
class Candidates:
    """The pairs that may be chosen.

    Examples
    --------
    >>> from assay.core.run import Run
    >>> table = Candidates.of([Run.from_dict({"q1": {"d1": 2, "d2": 1}}, "a"), Run.from_dict({"q1": {"d2": 9}}, "b")])
    >>> table.query_ids, sorted(zip(table.doc_ids, table.best_rank.tolist()))
    (('q1',), [('d1', 1), ('d2', 1)])
    """

    query_ids: tuple[str, ...]
    offsets: Places
    doc_ids: Texts
    run_names: tuple[str, ...]
    begins: Places
    runs: Numbers
    ranks: Numbers
    keys: Keys
    keyed: Keyed

    @classmethod
    def of(
        cls,
        runs: Iterable[Run],
        depth: int | None = None,
        also: Sequence[Pair] = (),
        queries: frozenset[str] | None = None,
    ) -> Candidates:
        """Combine the rankings of runs."""
        parts = [Part.of(run, depth, queries) for run in runs]
        parts.sort(key=lambda part: part.name.encode())
        for one, other in pairwise(parts):
            if one.name == other.name:
                message = f"Two runs are named {one.name!r}. Use a different name for each run."
                raise NotValid(message, {"runs": "Names must be unique."})
        names = tuple(part.name for part in parts)
        return cls._united([*parts, Part.given(also, queries)], names)

    @classmethod
    def _united(cls, parts: Sequence[Part], names: tuple[str, ...]) -> Candidates:
        """Combine some queries at a time, because sorting millions of rows at once would not fit into memory."""
        query_ids = tuple(sorted(set().union(*(part.query_ids for part in parts))))
        code = {query_id: at for at, query_id in enumerate(query_ids)}
        coded = [np.array([code[query_id] for query_id in part.query_ids], dtype=np.int64) for part in parts]
        rows = sum(len(part.ranks) for part in parts)
        step = max(1, BLOCK * len(query_ids) // max(rows, 1))
        for salt in range(SALTS):
            keyed = Keyed(len(query_ids), len(parts), salt)
            blocks = []
            for begin in range(0, len(query_ids), step):
                block = Block.of(parts, coded, begin, begin + step, keyed)
                if block is None:
                    break
                blocks.append(block)
            else:
                return cls._of_blocks(query_ids, names, blocks, keyed)
        raise AssertionError(
            "documents could not be distinguished"
        )  # pragma: no cover - eight salts would have to collide

    @classmethod
    def _of_blocks(
        cls, query_ids: tuple[str, ...], names: tuple[str, ...], blocks: Sequence[Block], keyed: Keyed
    ) -> Candidates:
        none, whole = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        counts = np.concatenate([whole, *(block.counts for block in blocks)])
        query = np.concatenate([whole, *(block.query for block in blocks)])
        return cls(
            query_ids,
            np.searchsorted(query, np.arange(len(query_ids) + 1)).astype(np.int64),
            Texts.joined([block.doc_ids for block in blocks]) if blocks else Texts.of([]),
            names,
            np.append(0, np.cumsum(counts)).astype(np.int64),
            np.concatenate([none, *(block.runs for block in blocks)]),
            np.concatenate([none, *(block.ranks for block in blocks)]),
            np.concatenate([np.zeros(0, dtype=np.uint64), *(block.keys for block in blocks)]),
            keyed,
        )

    def within(self, depth: int) -> tuple[Candidates, Places]:
        """Return the table limited to the first ``depth`` ranks, and the row of each of its pairs in this table."""
        inside = self.ranks <= depth
        pair = np.repeat(np.arange(len(self)), np.diff(self.begins))[inside]
        counts = np.bincount(pair, minlength=len(self))
        rows = np.flatnonzero(counts)
        table = Candidates(
            self.query_ids,
            np.searchsorted(rows, self.offsets).astype(np.int64),
            self.doc_ids.take(rows),
            self.run_names,
            np.append(0, np.cumsum(counts[rows])).astype(np.int64),
            self.runs[inside],
            self.ranks[inside],
            self.keys[rows],
            self.keyed,
        )
        return table, rows

    def find(self, pairs: Sequence[Pair]) -> Places:
        """Return the row of each pair; -1 for an unknown one."""
        if not len(self) or not pairs:
            return np.full(len(pairs), -1, dtype=np.int64)
        code = {query_id: at for at, query_id in enumerate(self.query_ids)}
        query = np.array([code.get(query_id, -1) for query_id, _ in pairs], dtype=np.int64)
        wanted = Texts.of([doc_id for _, doc_id in pairs])
        keys = self.keyed.keys(np.maximum(query, 0), wanted)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self) - 1)
        there = (query >= 0) & (self.keys[places] == keys)
        there &= wanted.same(np.arange(len(pairs)), self.doc_ids, places)
        return np.where(there, places, -1)

    @cached_property
    def query_of(self) -> Places:
        """Return the position of each pair's query, shape (pairs,)."""
        return np.repeat(np.arange(len(self.query_ids)), np.diff(self.offsets))

    @cached_property
    def pair_of(self) -> Places:
        """Return the pair of each entry, shape (entries,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.begins))

    @cached_property
    def best_rank(self) -> Numbers:
        """Return the best rank of each pair, shape (pairs,); 0 if no run returns it."""
        best = np.zeros(len(self), dtype=np.int32)
        some = np.flatnonzero(np.diff(self.begins))
        if len(some):
            best[some] = np.minimum.reduceat(self.ranks, self.begins[:-1][some])
        return best

    def sums(self, by_rank: Sequence[float]) -> npt.NDArray[np.float64]:
        """Return for each pair the sum of the weights of its ranks, shape (pairs,)."""
        worth = np.array([0.0, *by_rank, 0.0])
        at = np.minimum(self.ranks, len(worth) - 1)
        # bincount adds in the order of entries, which is that of the runs' names: the same sum on every machine.
        return np.asarray(np.bincount(self.pair_of, weights=worth[at], minlength=len(self)), dtype=np.float64)

    def lots(self, seed: int, word: str = "") -> Keys:
        """Return a random number for each pair that depends only on the seed, the word and the pair, shape (pairs,).
        It is a hash instead of a random stream, so that a pair keeps its number if other pairs are added or removed.
        """
        begin = Texts.of([f"{seed}\x1f{word}"]).keys()[0]
        queries = mixed(Texts.of(list(self.query_ids)).keys() ^ begin)
        return mixed(self.doc_ids.keys() ^ queries[self.query_of])

    def where(self, pair: int) -> tuple[tuple[str, int], ...]:
        """Return the runs that return a pair, by name, each with its rank."""
        part = slice(self.begins[pair], self.begins[pair + 1])
        runs, ranks = self.runs[part].tolist(), self.ranks[part].tolist()
        return tuple((self.run_names[run], rank) for run, rank in zip(runs, ranks, strict=True))

    def __len__(self) -> int:
        return len(self.keys)
