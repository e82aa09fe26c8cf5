"""Runs of millions of rows as columns: each id is held once, and each row refers to its ids by number. A process can
send such a run to another one without an object for each row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from assay.core.text_column import WORD, Texts, distinct, spans
from assay.formats.row_columns import Meant, RowColumns
from assay.formats.row_types import RunRow
from assay.formats.run_reader import RunRows

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
