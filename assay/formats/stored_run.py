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
from assay.formats.run_table import NO_RANK, IdColumn, RunTable

if TYPE_CHECKING:
    import polars

    from assay.formats.row_types import RunRow

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
