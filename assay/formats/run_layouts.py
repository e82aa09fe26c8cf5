"""Layouts of large run files: TREC, CSV and MS MARCO's TSV."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from assay.core.read_report import Tally
from assay.formats.column_reader import Layout, Lines, Plain, Warned, plain_ids
from assay.formats.csv_columns import CsvLayout, split_cells
from assay.formats.delimited import Cells
from assay.formats.grade_cells import Keyed
from assay.formats.pair_entries import Absent, Cell, Entry, add_result, compare_ranks
from assay.formats.row_columns import Coded, Column, Meant
from assay.formats.row_types import RunRow
from assay.formats.trec_columns import Fields, numbers_or_nan
from assay.formats.trec_fields import EXACT_WHOLE
from assay.formats.trec_layout import TrecLayout

Numbers = npt.NDArray[np.float64]


class _Run(Layout[RunRow]):
    """Common part of all run layouts: a document occurs once per query, and ranks are compared with scores."""

    row = RunRow
    keys = ("query_id", "doc_id")
    # Whether any row has a rank.
    ranked = False

    def keyed(self, tally: Tally) -> Keyed[RunRow]:
        return Keyed(tally, twice_is_conflict=True)

    def count(self, rows: Sequence[RunRow], tally: Tally) -> None:
        if self.ranked and len(rows):
            compare_ranks(rows, tally)


class TrecRun(TrecLayout[RunRow], _Run):
    """Lines with query, Q0, document, rank, score and tag."""

    width = 6
    ranked = True

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = fields.texts(0), fields.texts(2)
        scores = numbers_or_nan(fields.texts(4))
        good = ~np.isnan(scores) & plain_ids(query_ids) & plain_ids(doc_ids)
        # The tag includes the rest of the line.
        good[fields.wider(6)] = False
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "score": scores,
            "rank": Meant(_usable(numbers_or_nan(fields.texts(3))), _rank),
            "tag": Coded.of(fields.texts(5)),
        }
        return Plain(columns, good)

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[RunRow]) -> None:
        from assay.formats.trec_run import add_line

        add_line(parts, line, raw, tally, by_key)


class CsvRun(CsvLayout[RunRow], _Run):
    """Records of query, document, and score, rank or both, under a header."""

    def split(self, data: bytes) -> Fields | None:
        # The careful reader reports the missing field.
        return super().split(data) if {"score", "rank"} & self.places.keys() else None

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = (fields.texts(self.places[name]) for name in ("query_id", "doc_id"))
        good = plain_ids(query_ids) & plain_ids(doc_ids)
        columns: dict[str, Column] = {"query_id": query_ids, "doc_id": doc_ids}
        scored, ranked = self.texts(fields, "score"), self.texts(fields, "rank")
        warned = []
        if ranked is not None:
            ranks = numbers_or_nan(ranked)
            good &= ~np.isnan(ranks) | (ranked.ends == ranked.starts)
            columns["rank"] = Meant(_usable(ranks), _rank)
        if scored is not None:
            columns["score"] = scores = numbers_or_nan(scored)
        elif ranked is not None:
            columns["score"] = scores = 0.0 - _usable(ranks)
            warned = [Warned("W49", np.ones(fields.rows, dtype=np.bool_))]
        good &= ~np.isnan(scores)
        if ranked is not None:
            self.ranked = self.ranked or bool((good & (ranked.ends > ranked.starts)).any())
        if (tags := self.texts(fields, "tag")) is not None:
            columns["tag"] = tags
        return Plain(columns, good, warned=warned)

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[RunRow]) -> None:
        of = cells.of
        if "score" not in of and "rank" not in of:
            what, expected = "there is no column score", "add a score, or map a column (columns: score=NAME)"
            tally.refuse(what, line=1, expected=expected, code="F04")
        score = Cell(of["score"]) if "score" in of else Absent
        entry = Entry(
            cells.line,
            of["query_id"],
            of["doc_id"],
            score,
            of.get("rank"),
            of.get("tag", ""),
            cells.raw,
            repaired=cells.repaired,
        )
        self.ranked = add_result(entry, tally, by_key, without=score is Absent) or self.ranked


class MsMarcoRun(_Run):
    """TAB-separated lines of query, document and rank."""

    lone_returns = True

    def split(self, data: bytes) -> Fields | None:
        return split_cells(data, "\t", 3, quotes=False)

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = fields.texts(0), fields.texts(1)
        ranks = _usable(numbers_or_nan(fields.texts(2)))
        scores = 0.0 - ranks
        good = ~np.isnan(scores) & plain_ids(query_ids) & plain_ids(doc_ids)
        self.ranked = self.ranked or bool(good.any())
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "score": scores,
            "rank": Meant(ranks, _rank),
        }
        return Plain(columns, good, warned=[Warned("W49", np.ones(fields.rows, dtype=np.bool_))])

    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[RunRow]) -> None:
        from assay.formats.msmarco_run import entries

        texts = ((number, text.rstrip("\r\n")) for number, text in lines.lines_with_ends())
        for entry in entries(texts, tally):
            self.ranked = add_result(entry, tally, by_key, without=True) or self.ranked


def _usable(ranks: Numbers) -> Numbers:
    """Return ranks with NaN for those that are not whole numbers from 0."""
    return np.where((ranks >= 0) & (ranks < EXACT_WHOLE) & (np.floor(ranks) == ranks), ranks, np.nan)


def _rank(value: float) -> int | None:
    return None if value != value else int(value)
