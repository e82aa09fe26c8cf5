"""Internal Parquet storage of runs, which can be read at once or in blocks of whole queries. The columns are
``query_id``, ``doc_id``, ``rank`` and ``score``, sorted by the UTF-8 bytes of the query, then in trec_eval's order.
The hash covers the content, not the bytes of the file, which another version of polars may write differently. This
module reads and trusts only files that `write_stored` wrote; uploaded files are read by ``parquet``, which does
not trust them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from assay.core.read_report import Tally
from assay.core.run import Run
from assay.core.text_column import Groups, Places, Texts, grouped, padded
from assay.formats.run_reader import RunFile, RunRows, whole_queries

if TYPE_CHECKING:
    import polars

    from assay.formats.row_types import RunRow

NAME = "run-parquet"
# Number of rows that are compressed and read together: a few megabytes of memory.
GROUP = 1 << 17
HEADING = b"assay run 1\n"
NO_RANK = -1


def write_stored(rows: Sequence[RunRow]) -> tuple[bytes, str]:
    """Return the Parquet file of a run, and the hash of its content."""
    columns = RunRows.of(rows)
    order = stored_order(columns)
    query_ids, doc_ids = columns.query_ids.take(order).tolist(), columns.doc_ids.take(order).tolist()
    ranks = np.array([NO_RANK if row.rank is None else row.rank for row in rows], dtype="<i8")[order]
    scores = columns.scores[order].astype("<f8")
    return _parquet(query_ids, doc_ids, ranks, scores), _content_hash(query_ids, doc_ids, ranks, scores)


def stored_order(rows: RunRows) -> Places:
    """Return the rows by query, then score descending, then document descending."""
    query = grouped(rows.query_ids).query_of
    by_document = rows.doc_ids.descending(query)
    order: Places = by_document[np.lexsort((-rows.scores[by_document], query[by_document]))]
    return order


def _parquet(query_ids: list[str], doc_ids: list[str], ranks: Places, scores: np.ndarray) -> bytes:
    import polars

    absent = polars.Series(ranks == NO_RANK)
    columns = {
        "query_id": polars.Series(query_ids, dtype=polars.String),
        "doc_id": polars.Series(doc_ids, dtype=polars.String),
        "rank": polars.Series(ranks).set(absent, None),
        "score": polars.Series(scores),
    }
    buffer = BytesIO()
    polars.DataFrame(columns).write_parquet(buffer, compression="zstd", row_group_size=GROUP)
    return buffer.getvalue()


def _content_hash(query_ids: list[str], doc_ids: list[str], ranks: Places, scores: np.ndarray) -> str:
    digest = hashlib.sha256(HEADING)
    for ids in (query_ids, doc_ids):
        digest.update("".join(f"{text}\n" for text in ids).encode("utf-8", "surrogatepass"))
    digest.update(ranks.tobytes())
    digest.update(scores.tobytes())
    return digest.hexdigest()


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
