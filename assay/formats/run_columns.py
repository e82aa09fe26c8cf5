"""Columns of a run's lines, with a check that ranks agree with scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from assay.core.grouping import Groups, grouped
from assay.core.read_report import Tally
from assay.core.run import Run
from assay.core.text_column import Places, Texts
from assay.formats.trec_fields import EXACT_WHOLE

if TYPE_CHECKING:
    from assay.formats.row_types import RunRow

MOST_RANK = 2**31
# Few queries have more rows than this.
LAST = 2048


def usable_ranks(ranks: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return ranks with 0 for invalid ones: fractions and negative numbers."""
    usable = (ranks >= 0) & (ranks < EXACT_WHOLE) & (np.floor(ranks) == ranks)
    return ranks if usable.all() else np.where(usable, ranks, 0.0)


@dataclass(frozen=True, slots=True)
class RunRows:
    """Rows of a run in the order of the file."""

    query_ids: Texts
    doc_ids: Texts
    scores: npt.NDArray[np.float64]
    ranks: npt.NDArray[np.float64]
    lines: Places

    @classmethod
    def of(cls, rows: Sequence[RunRow]) -> RunRows:
        """Build the columns from rows, which may already be columns."""
        from assay.formats.row_columns import Meant, RowColumns

        if isinstance(rows, RowColumns):
            columns = rows.columns
            ranks = columns.get("rank")
            return cls(
                rows.texts("query_id"),
                rows.texts("doc_id"),
                np.asarray(columns["score"]),
                np.nan_to_num(np.asarray(ranks.given)) if isinstance(ranks, Meant) else np.zeros(len(rows)),
                np.asarray(columns["line"]),
            )
        return cls(
            Texts.of([row.query_id for row in rows]),
            Texts.of([row.doc_id for row in rows]),
            np.array([row.score for row in rows], dtype=np.float64),
            np.array([row.rank or 0 for row in rows], dtype=np.float64),
            np.array([row.line or 0 for row in rows], dtype=np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence[RunRows]) -> RunRows:
        """Concatenate rows."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            Texts.joined([part.query_ids for part in parts]),
            Texts.joined([part.doc_ids for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([part.lines for part in parts]),
        )

    def between(self, start: int, stop: int) -> RunRows:
        """Return a range of the rows."""
        part = slice(start, stop)
        return RunRows(
            self.query_ids.take(part), self.doc_ids.take(part), self.scores[part], self.ranks[part], self.lines[part]
        )

    def last_query(self) -> int:
        """Return the row at which the last query begins."""
        rows, looked = len(self.scores), LAST
        while True:
            start = max(0, rows - looked)
            changes = np.flatnonzero(self.query_ids.take(slice(start, rows)).changes()[1:])
            if len(changes) or not start:
                return start + 1 + int(changes[-1]) if len(changes) else 0
            looked *= 8

    def run(self, name: str, tally: Tally) -> Run:
        """Return the run of these rows, and report contradicting ranks."""
        groups = grouped(self.query_ids)
        self.compare_ranks(groups, tally)
        return Run.from_groups(groups, self.doc_ids, self.scores, name)

    def by_rank(self, name: str) -> Run:
        """Return the run sorted by rank, rows without rank last; the scores are the negated ranks."""
        return Run.from_columns(self.query_ids, self.doc_ids, -self.ranks_within(grouped(self.query_ids)), name)

    def ranks_agree(self) -> bool:
        """Return whether every row has a unique rank in its query that agrees with the scores."""
        groups = grouped(self.query_ids)
        ranks, query = self.ranks_within(groups), groups.query_of
        order = np.lexsort((ranks, query))
        scores, above, query = self.scores[order], ranks[order], query[order]
        falls = (scores[1:] <= scores[:-1]) & (above[1:] > above[:-1])
        return bool(np.isfinite(ranks).all() and (falls | (query[1:] != query[:-1])).all())

    def ranks_within(self, groups: Groups) -> npt.NDArray[np.float64]:
        """Return the ranks, infinite if missing; 0 is a rank if every query has it once."""
        none = self.ranks == 0
        if not none.any() or (np.bincount(groups.query_of[none], minlength=len(groups.names)) == 1).all():
            return self.ranks
        return np.where(none, np.inf, self.ranks)

    def compare_ranks(self, groups: Groups, tally: Tally) -> None:
        """Warn if ranks contradict the scores (W40), that is, do not increase as the scores decrease."""
        scores, ranks = self.scores, self.ranks
        if groups.order is not None:
            scores, ranks = scores[groups.order], ranks[groups.order]
        query = np.repeat(np.arange(len(groups.names)), np.diff(groups.offsets))
        first = np.zeros(len(scores), dtype=np.bool_)
        first[groups.offsets[:-1]] = True
        rises = (ranks[1:] > ranks[:-1]) & (scores[1:] <= scores[:-1])
        if (rises | first[1:]).all():
            return
        order = np.lexsort((ranks, -scores, query))
        ranks = np.clip(ranks[order], 0, MOST_RANK - 1)
        # The largest rank so far of each query, in one pass, with the query in the high bits of the number.
        high = query * MOST_RANK + ranks.astype(np.int64)
        before = np.where(first, query * MOST_RANK - 1, np.concatenate(([0], np.maximum.accumulate(high)[:-1])))
        odd = np.flatnonzero(high <= before)
        if len(odd):
            places = order[odd] if groups.order is None else groups.order[order[odd]]
            place = int(places[0])
            what = f"the rank of document {self.doc_ids[place]!r} contradicts its score"
            tally.once("W40", int(self.lines[place]), what, done="ordered by score", times=len(odd))
