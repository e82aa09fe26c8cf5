"""Union of the documents that several runs return, with their ranks and judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_column import Texts, pair_keys, spans

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pooled:
    """The union of the documents that runs return for the labeled queries."""

    query: Integers
    best_rank: Integers
    place: Integers
    contributed: Flags


@dataclass(frozen=True, eq=False)
class _Returned:
    query: Integers
    rank: Integers
    doc_ids: Texts
    place: Integers


def pooled(qrels: Qrels, runs: Sequence[Run], depth: int) -> Pooled:
    """Compute the union of the documents that runs return down to a depth.

    Parameters
    ----------
    qrels : Qrels
        The labels; queries without labels are ignored.
    runs : sequence of Run
        The systems.
    depth : int
        The last rank to include.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"a": 1, "b": 0}})
    >>> one, two = Run.from_dict({"q1": {"a": 2.0, "c": 1.0}}), Run.from_dict({"q1": {"c": 2.0, "a": 1.0}})
    >>> found = pooled(qrels, [one, two], 2)
    >>> sorted(zip(found.best_rank.tolist(), found.place.tolist())), found.contributed.tolist()
    ([(1, -1), (1, 0)], [[True, True], [False, False]])
    """
    each = [_returned(qrels, run, depth) for run in runs]
    contributed = np.zeros((len(qrels), len(each)), dtype=np.bool_)
    for at, one in enumerate(each):
        contributed[one.place[one.place >= 0], at] = True
    query = np.concatenate([one.query for one in each])
    rank = np.concatenate([one.rank for one in each])
    place = np.concatenate([one.place for one in each])
    pair = _numbered(query, Texts.joined([one.doc_ids for one in each]))
    order = np.lexsort((rank, pair))
    first = order[np.diff(pair[order], prepend=-1) > 0]
    return Pooled(query[first], rank[first], place[first], contributed)


def _returned(qrels: Qrels, run: Run, depth: int) -> _Returned:
    codes = np.array([qrels.codes.get(query_id, -1) for query_id in run.query_ids], dtype=np.int64)
    known = codes >= 0
    starts = run.offsets[:-1][known]
    sizes = np.minimum(np.diff(run.offsets)[known], depth)
    rows = spans(starts, sizes)
    query, doc_ids = np.repeat(codes[known], sizes), run.doc_ids.take(rows)
    return _Returned(query, rows - np.repeat(starts, sizes) + 1, doc_ids, _places(qrels, query, doc_ids))


def _places(qrels: Qrels, query: Integers, doc_ids: Texts) -> Integers:
    """Return the row in the qrels of each pair, -1 if there is none."""
    by_row = np.full(len(query), -1, dtype=np.int64)
    rows, places = qrels.index.find(pair_keys(query, doc_ids))
    same = doc_ids.same(rows, qrels.doc_ids, places) & (qrels.query_of[places] == query[rows])
    if same.all():
        by_row[rows] = places
        return by_row
    # Two different pairs have the same key; then the texts decide.
    known = {pair: at for at, pair in enumerate(zip(qrels.query_of.tolist(), qrels.doc_ids, strict=True))}
    pairs = zip(query.tolist(), doc_ids, strict=True)
    return np.fromiter((known.get(pair, -1) for pair in pairs), np.int64, len(query))


def _numbered(query: Integers, doc_ids: Texts) -> Integers:
    """Number the distinct pairs from 0."""
    keys = pair_keys(query, doc_ids)
    order = np.argsort(keys, kind="stable")
    new = np.concatenate(([True], keys[order][1:] != keys[order][:-1])) if len(keys) else np.zeros(0, dtype=np.bool_)
    again = np.flatnonzero(~new)
    above, below = order[again - 1], order[again]
    if not (doc_ids.same(above, doc_ids, below) & (query[above] == query[below])).all():
        numbers: dict[tuple[int, str], int] = {}
        pairs = zip(query.tolist(), doc_ids, strict=True)
        return np.fromiter((numbers.setdefault(pair, len(numbers)) for pair in pairs), np.int64, len(query))
    number = np.empty(len(keys), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return number
