"""Conversion of the first rows of many runs to numbered pairs, some queries at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

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
