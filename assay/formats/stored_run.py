"""Runs of millions of rows: as columns that one process sends to another, as internal Parquet storage, and in figures.

In a `RunTable`, each id is held once, and each row refers to its ids by number. Storage can be read at once or in
blocks of whole queries. Its columns are ``query_id``, ``doc_id``, ``rank`` and ``score``, sorted by the UTF-8 bytes of
the query, then in trec_eval's order. The hash covers the content, not the bytes of the file, which another version of
polars may write differently. This module reads and trusts only files that `write_stored` wrote; uploaded files are read
by ``parquet``, which does not trust them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from assay.core.read_report import Tally
from assay.core.run import Run
from assay.core.text_column import WORD, Groups, Places, Texts, distinct, grouped, padded, spans
from assay.formats.row_columns import Meant, RowColumns
from assay.formats.row_types import RunRow
from assay.formats.trec_run import RunFile, RunRows, whole_queries

if TYPE_CHECKING:
    import polars

NO_RANK = -1
# Number of ids to decode at a time.
CHUNK = 1 << 16
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class IdColumn:
    """The different ids of a column, and the position of each row's id among them."""

    names: Texts
    codes: Codes

    @classmethod
    def of(cls, texts: Texts) -> IdColumn:
        """Number the ids of a column."""
        begins = np.flatnonzero(texts.changes()) if len(texts) else np.zeros(0, dtype=np.int64)
        if 2 * len(begins) < len(texts):
            # Rows with the same id are usually adjacent: the first represents all.
            short = cls.of(texts.take(begins))
            return cls(short.names, np.repeat(short.codes, np.diff(begins, append=len(texts))))
        _, first, codes = np.unique(texts.keys(), return_index=True, return_inverse=True)
        twice = np.flatnonzero(first[codes] != np.arange(len(texts)))
        if texts.same(twice, texts, first[codes[twice]]).all():
            return cls(_packed(texts.take(first)), codes.astype(np.int32))
        # Two ids have the same key.
        names, codes = distinct(texts)
        return cls(Texts.of(names), codes.astype(np.int32))

    def texts(self) -> Texts:
        """Return the id of each row."""
        return self.names.take(self.codes.astype(np.int64))

    def parts(self) -> Iterator[list[str]]:
        """Yield the different ids, some at a time."""
        return (self.names[low : low + CHUNK] for low in range(0, len(self.names), CHUNK))

    def unknown(self, known: Collection[str]) -> tuple[int, int]:
        """Return how many of the ids are not known, and the first row with such an id."""
        strange = np.array([name not in known for part in self.parts() for name in part], dtype=np.bool_)
        number = int(np.count_nonzero(strange))
        return number, int(strange[self.codes].argmax()) if number else 0


@dataclass(frozen=True, slots=True, eq=False)
class RunTable(Sequence[RunRow]):
    """Rows of a run in the order of the file, without tags; a missing rank is `NO_RANK`.

    Examples
    --------
    >>> table = RunTable.of([RunRow("q1", "d1", 2.0, 1), RunRow("q1", "d2", 1.5)])
    >>> table[1].doc_id, table[1].rank, len(table)
    ('d2', None, 2)
    """

    query_ids: IdColumn
    doc_ids: IdColumn
    scores: npt.NDArray[np.float64]
    ranks: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[RunRow]) -> RunTable:
        """Build the table from rows, which may already be columns."""
        if isinstance(rows, RunTable):
            return rows
        columns = RunRows.of(rows)
        if not isinstance(rows, RowColumns):
            missing = np.array([row.rank is None for row in rows], dtype=np.bool_)
        elif isinstance(given := rows.columns.get("rank"), Meant):
            missing = np.isnan(np.asarray(given.given))
        else:
            missing = np.ones(len(rows), dtype=np.bool_)
        return cls(
            IdColumn.of(columns.query_ids),
            IdColumn.of(columns.doc_ids),
            columns.scores,
            np.where(missing, NO_RANK, columns.ranks).astype(np.int64),
            columns.lines,
        )

    def rows(self) -> RunRows:
        """Return the rows with a text for each id, and 0 for a missing rank."""
        ranks = np.maximum(self.ranks, 0).astype(np.float64)
        return RunRows(self.query_ids.texts(), self.doc_ids.texts(), self.scores, ranks, self.lines)

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, place: int) -> RunRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[RunRow]: ...
    def __getitem__(self, place: int | slice) -> RunRow | list[RunRow]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        query_id, doc_id = (column.names[int(column.codes[place])] for column in (self.query_ids, self.doc_ids))
        rank = None if self.ranks[place] == NO_RANK else int(self.ranks[place])
        return RunRow(query_id, doc_id, float(self.scores[place]), rank, line=int(self.lines[place]))


def _packed(texts: Texts) -> Texts:
    """Return the column with a buffer of its own, because the buffer may be a whole file."""
    sizes = texts.ends - texts.starts
    parts = [slice(low, low + CHUNK) for low in range(0, len(texts), CHUNK)]
    letters = [texts.buffer[spans(texts.starts[part], sizes[part])] for part in parts]
    ends = np.cumsum(sizes, dtype=np.int64)
    return Texts(np.concatenate([*letters, np.zeros(WORD, dtype=np.uint8)]), ends - sizes, ends)


NAME = "run-parquet"
# Number of rows that are compressed and read together: a few megabytes of memory.
GROUP = 1 << 17
HEADING, NEWLINE = b"assay run 1\n", "\n"


def write_stored(rows: Sequence[RunRow]) -> tuple[bytes, str]:
    """Return the Parquet file of a run, and the hash of its content."""
    import polars

    table = RunTable.of(rows)
    order = stored_order(table.rows())
    ranks, scores = table.ranks[order].astype("<i8"), table.scores[order].astype("<f8")
    columns = {
        "query_id": _ids(table.query_ids, order),
        "doc_id": _ids(table.doc_ids, order),
        "rank": polars.Series(ranks).set(polars.Series(ranks == NO_RANK), None),
        "score": polars.Series(scores),
    }
    digest = hashlib.sha256(HEADING)
    for name in ("query_id", "doc_id"):
        for low in range(0, len(order), GROUP):
            digest.update(f"{columns[name].slice(low, GROUP).str.join(NEWLINE).item()}{NEWLINE}".encode())
    digest.update(ranks.tobytes())
    digest.update(scores.tobytes())
    buffer = BytesIO()
    polars.DataFrame(columns).write_parquet(buffer, compression="zstd", row_group_size=GROUP)
    return buffer.getvalue(), digest.hexdigest()


def _ids(column: IdColumn, order: Places) -> polars.Series:
    import polars

    names = [polars.Series(part, dtype=polars.String) for part in column.parts()]
    return polars.concat(names or [polars.Series(dtype=polars.String)]).rechunk().gather(column.codes[order])


def stored_order(rows: RunRows) -> Places:
    """Return the rows by query, then score descending, then document descending."""
    groups = grouped(rows.query_ids)
    order: Places = np.arange(len(rows.scores)) if groups.order is None else groups.order
    query, scores = groups.query_of[order], rows.scores[order]
    if ((query[1:] == query[:-1]) & (scores[1:] > scores[:-1])).any():
        again = np.lexsort((-scores, query))
        order, query, scores = order[again], query[again], scores[again]
    same = (query[1:] == query[:-1]) & (scores[1:] == scores[:-1])
    if same.any():
        # Only rows with the same score are ordered by document.
        first = np.concatenate(([True], ~same))
        places = np.flatnonzero(~(first & np.append(first[1:], True)))
        tied = order[places]
        order[places] = tied[rows.doc_ids.take(tied).descending(np.cumsum(first)[places])]
    return order


class StoredRun(RunFile):
    """A run that `write_stored` wrote, read in blocks or at once.

    Examples
    --------
    >>> from assay.formats.row_types import RunRow
    >>> body, _ = write_stored([RunRow("q1", "d1", 1.5), RunRow("q1", "d2", 2.5)])
    >>> StoredRun(body, "bm25").whole().to_dict()
    {'q1': {'d2': 2.5, 'd1': 1.5}}
    """

    def __init__(self, body: bytes, name: str = "run") -> None:
        super().__init__(body, name, name)
        self._body = body

    def blocks(self, size: int = GROUP) -> Iterator[Run]:
        """Yield runs of some whole queries each; together they are the run."""
        tally = Tally(self.path, NAME)
        for rows in self.row_blocks(size):
            groups = grouped(rows.query_ids)
            if rows.ranks.any():
                rows.compare_ranks(groups, tally)
            yield self._ordered(groups, rows)
        self.report = tally.report()

    def row_blocks(self, size: int = GROUP) -> Iterator[RunRows]:
        """Yield the rows of some whole queries at a time, with their ranks, 0 if missing."""
        import polars

        scan = polars.scan_parquet(BytesIO(self._body))
        total = int(scan.select(polars.len()).collect().item())
        edges = pairwise([*range(0, total, size), total])
        yield from whole_queries(_rows(scan.slice(low, high - low).collect(), low) for low, high in edges)

    def whole(self) -> Run:
        """Return the run in one piece."""
        rows = self.rows()
        return self._ordered(grouped(rows.query_ids), rows)

    def rows(self) -> RunRows:
        """Return the rows as stored, with their ranks, 0 if missing."""
        import polars

        return _rows(polars.read_parquet(BytesIO(self._body)), 0)

    def _ordered(self, groups: Groups, rows: RunRows) -> Run:
        """Return the run of rows that are already sorted."""
        return Run(self.name, groups.names, groups.offsets, rows.doc_ids, rows.scores)


def _rows(frame: polars.DataFrame, before: int) -> RunRows:
    lines = np.arange(before + 1, before + len(frame) + 1)
    ranks = frame["rank"].fill_null(0).to_numpy().astype(np.float64)
    return RunRows(_texts(frame["query_id"]), _texts(frame["doc_id"]), frame["score"].to_numpy(), ranks, lines)


def _texts(column: polars.Series) -> Texts:
    """Return a column of ids without an object for each."""
    ends = np.cumsum(column.str.len_bytes().to_numpy().astype(np.int64))
    starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    return Texts(padded(str(column.str.join("").item()).encode()), starts, ends)


# More bars than this are unreadable.
MOST_DEPTHS = 12
# From this share of tied rows on, a run's order is mostly arbitrary.
MOSTLY = 0.75


@dataclass(frozen=True)
class Figures:
    """Quality figures of a run."""

    rows: int
    queries: int
    smallest: int
    median: int
    largest: int
    tied_rows: int
    tied_queries: int
    ranked_rows: int
    against_rows: int
    against_queries: int
    reordered_rows: int
    first_against: str | None
    infinite: int

    @property
    def ties(self) -> float | None:
        """Return the share of tied rows; None for a run without rows."""
        return self.tied_rows / self.rows if self.rows else None

    @property
    def mostly_tied(self) -> bool:
        """Return whether most rows have an arbitrary position."""
        return (self.ties or 0.0) >= MOSTLY


def figures(rows: RunRows) -> Figures:
    """Return the figures of a run's rows.

    Examples
    --------
    >>> from assay.formats.row_types import RunRow
    >>> rows = [RunRow("q1", "d1", 2.0, 2), RunRow("q1", "d2", 1.0, 1), RunRow("q2", "d1", 1.0, 1)]
    >>> found = figures(RunRows.of(rows))
    >>> found.largest, found.against_rows, found.first_against
    (2, 2, 'q1')
    """
    groups = grouped(rows.query_ids)
    order = stored_order(rows)
    query, scores = groups.query_of[order], rows.scores[order]
    depths = np.sort(np.diff(groups.offsets))
    same = (scores[1:] == scores[:-1]) & (query[1:] == query[:-1])
    tied = np.zeros(len(scores), dtype=np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    against, reordered = _displaced(rows, groups, order)
    contradicted = np.unique(query[against])
    return Figures(
        rows=len(scores),
        queries=len(groups.names),
        smallest=int(depths[0]) if len(depths) else 0,
        median=int(depths[len(depths) // 2]) if len(depths) else 0,
        largest=int(depths[-1]) if len(depths) else 0,
        tied_rows=int(np.count_nonzero(tied)),
        tied_queries=len(np.unique(query[tied])),
        ranked_rows=int(np.count_nonzero(np.isfinite(rows.ranks_within(groups)))) if rows.ranks.any() else 0,
        against_rows=int(np.count_nonzero(against)),
        against_queries=len(contradicted),
        reordered_rows=int(np.count_nonzero(reordered)),
        first_against=groups.names[int(contradicted[0])] if len(contradicted) else None,
        infinite=int(np.count_nonzero(np.isinf(scores))),
    )


def _displaced(rows: RunRows, groups: Groups, order: Places) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions in the score order that have another row in the rank order: with another score, and with the
    same score."""
    if not rows.ranks.any():
        return np.zeros(len(order), dtype=np.bool_), np.zeros(len(order), dtype=np.bool_)
    query, ranks = groups.query_of[order], rows.ranks_within(groups)[order]
    if ((query[1:] != query[:-1]) | (ranks[1:] >= ranks[:-1])).all():
        return np.zeros(len(order), dtype=np.bool_), np.zeros(len(order), dtype=np.bool_)
    scores = rows.scores[order]
    without = np.bincount(query, weights=np.isinf(ranks), minlength=len(groups.names)) > 0
    by_rank = np.lexsort((ranks, query))
    moved = (by_rank != np.arange(len(order))) & ~without[query]
    against = moved & (scores[by_rank] != scores)
    return against, moved & ~against


def depths(counts: Sequence[int], most: int = MOST_DEPTHS) -> list[tuple[int, int, int]]:
    """Return the number of queries by number of documents, as (from, to, queries), shallow ones first.

    Examples
    --------
    >>> depths([3, 0, 3, 10]), depths([1, 2, 3, 4], most=2)
    ([(0, 0, 1), (3, 3, 2), (10, 10, 1)], [(1, 2, 2), (3, 4, 2)])
    """
    distinct, times = np.unique(np.asarray(counts, dtype=np.int64), return_counts=True)
    if len(distinct) <= most:
        return [(depth, depth, number) for depth, number in zip(distinct.tolist(), times.tolist(), strict=True)]
    low, high = int(distinct[0]), int(distinct[-1])
    width = -(-(high - low + 1) // most)
    ranges = []
    for start in range(low, high + 1, width):
        inside = (distinct >= start) & (distinct < start + width)
        ranges.append((start, min(start + width - 1, high), int(times[inside].sum())))
    return ranges
