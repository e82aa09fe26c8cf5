"""Layouts of large files of pairs: TREC qrels and runs, CSV, BEIR's TSV and MS MARCO's TSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt

from assay.core.counted_nouns import amount
from assay.core.read_report import Tally
from assay.core.text_column import Texts
from assay.formats.column_names import BEIR_HEADER
from assay.formats.column_reader import (
    Flags,
    Layout,
    Lines,
    Plain,
    TrecLayout,
    Warned,
    count_grades,
    lines_without_ends,
    plain_ids,
)
from assay.formats.csv_columns import CsvLayout, split_cells
from assay.formats.delimited import Cells
from assay.formats.grade_cells import Keyed, Pick, RowFault, checked_id, scale_grade
from assay.formats.pair_entries import Absent, Cell, Entry, add_label, add_result, compare_ranks
from assay.formats.reader import filled_lines, note_unusual
from assay.formats.row_columns import Coded, Column, Meant
from assay.formats.row_types import LabelRow, RunRow, SubtopicRow
from assay.formats.trec_lines import EXACT_WHOLE, Fields, numbers_or_nan

Numbers = npt.NDArray[np.float64]
Row = TypeVar("Row")
Grades = tuple[int, ...] | None


class _Labels(Layout[Row]):
    """Options of all label files: the scale, and which of two grades to use."""

    grades: Grades = None
    conflicts: Pick | None = None
    # Whether a grade must be a whole number if no scale is given.
    whole = False

    def of(self, grades: Grades, conflicts: Pick | None) -> Self:
        """Set the options."""
        self.grades, self.conflicts = grades, conflicts
        return self

    def keyed(self, tally: Tally) -> Keyed[Row]:
        return Keyed(tally, self.conflicts)

    def count(self, rows: Sequence[Row], tally: Tally) -> None:
        count_grades(rows, tally)

    def graded(self, texts: Texts) -> tuple[Column, Flags, Flags]:
        """Return the grades, which rows have one, and which were repaired."""
        if self.grades is None and not self.whole:
            values = numbers_or_nan(texts)
            good = ~np.isnan(values)
            return np.where(good, values, 0.0), good, np.zeros(len(texts), dtype=np.bool_)
        coded = Coded.of(texts).mapped(self._grade)
        good = ~coded.where(lambda grade: grade is None)
        repaired = coded.where(lambda grade: grade is not None and grade[1])
        return coded.mapped(lambda grade: grade and self.kind(grade[0])), good, repaired

    def _grade(self, text: str) -> tuple[int, bool] | None:
        try:
            return scale_grade(text.strip(), self.grades)
        except RowFault:
            return None

    def labeled(self, fields: Fields, places: Mapping[str, int], **others: Column) -> Plain:
        """Return the columns at these places: the keys and the grade."""
        grades, good, repaired = self.graded(fields.texts(places["grade"]))
        ids = {name: fields.texts(places[name]) for name in self.keys}
        for texts in ids.values():
            good &= plain_ids(texts)
        return Plain({**ids, "grade": grades, **others}, good, repaired, [Warned("W32", repaired)])

    # Type of a grade on a scale in a row.
    kind: Callable[[int], float] = staticmethod(int)


class TrecQrels(TrecLayout[LabelRow], _Labels[LabelRow]):
    """Lines with query, iteration, document and grade."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    width = 4

    def plain(self, fields: Fields) -> Plain:
        places = {"query_id": 0, "doc_id": 2, "grade": 3}
        plain = self.labeled(fields, places, origin=Coded.of(fields.texts(1)))
        wide = np.zeros(fields.rows, dtype=np.bool_)
        wide[fields.wider(4)] = True
        good = plain.good if self.grades is None else plain.good & ~wide
        return replace(plain, good=good, warned=[*plain.warned, Warned("W45", wide)])

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        from assay.formats.trec_qrels import add_line

        add_line(parts, line, raw, tally, by_key, self.grades)


class TrecSubtopicQrels(TrecLayout[SubtopicRow], _Labels[SubtopicRow]):
    """Lines of query, subtopic, document and grade."""

    row = SubtopicRow
    keys = ("query_id", "subtopic", "doc_id")
    width = 4

    def plain(self, fields: Fields) -> Plain:
        plain = self.labeled(fields, {"query_id": 0, "subtopic": 1, "doc_id": 2, "grade": 3})
        plain.good[fields.wider(4)] = False
        return plain

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[SubtopicRow]) -> None:
        from assay.formats.trec_qrels import add_line

        add_line(parts, line, raw, tally, by_key, self.grades, subtopics=True)


class CsvQrels(CsvLayout[LabelRow], _Labels[LabelRow]):
    """Records of query, document and grade under a header."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    kind = staticmethod(float)

    def plain(self, fields: Fields) -> Plain:
        return self.labeled(fields, self.places, origin=Coded.same("2", fields.rows))

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        of = cells.of
        grade = Cell(of["grade"])
        entry = Entry(cells.line, of["query_id"], of["doc_id"], grade, raw=cells.raw, repaired=cells.repaired)
        add_label(entry, tally, self.grades, by_key)


class BeirQrels(_Labels[LabelRow]):
    """TAB-separated lines of query, document and grade, under BEIR's header."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    lone_returns = True
    whole = True

    def begin(self, lines: Lines, tally: Tally) -> None:
        """Read the header, which is in the first line that is not blank."""
        for line, text in filled_lines(lines_without_ends(lines), tally):
            if text.strip().casefold() != BEIR_HEADER:
                expected = f"expected the header {BEIR_HEADER!r}; add it"
                tally.refuse(f"the first line is {text[:80]!r}", line=line, expected=expected, code="F04")
            tally.put("header")
            return

    def split(self, data: bytes) -> Fields | None:
        return split_cells(data, "\t", 3, quotes=False)

    def plain(self, fields: Fields) -> Plain:
        places = {"query_id": 0, "doc_id": 1, "grade": 2}
        return self.labeled(fields, places, origin=Coded.same("2", fields.rows))

    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        for line, text in filled_lines(lines_without_ends(lines), tally):
            self._add(text, line, tally, by_key)

    def _add(self, text: str, line: int, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        parts = text.split("\t")
        try:
            if len(parts) != 3:
                fix = "expected query, document and grade, separated by tabs"
                raise RowFault("E10", f"{amount(len(parts), 'column')} instead of 3", fix)
            key = checked_id(parts[0], "query id"), checked_id(parts[1])
            value, repaired = scale_grade(parts[2].strip(), self.grades)
        except RowFault as fault:
            tally.reject(fault.code, line, str(fault), fix=fault.fix, raw=text)
            return
        if repaired:
            tally.once("W32", line, f"the grade is written as {parts[2]}", done=f"read as {value}")
        note_unusual(tally, line, *key)
        by_key.add(
            key, value, LabelRow(*key, value, "2", line=line), line, text, "repaired" if repaired else "accepted"
        )


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
        for line, text in filled_lines(lines_without_ends(lines), tally):
            cells = text.split("\t")
            if len(cells) != 3:
                what = f"{amount(len(cells), 'column')} instead of 3"
                tally.reject("E10", line, what, fix="expected query, document and rank, separated by tabs", raw=text)
                continue
            entry = Entry(line, cells[0], cells[1], Absent, cells[2], raw=text)
            self.ranked = add_result(entry, tally, by_key, without=True) or self.ranked


def _usable(ranks: Numbers) -> Numbers:
    """Return ranks with NaN for those that are not whole numbers from 0."""
    return np.where((ranks >= 0) & (ranks < EXACT_WHOLE) & (np.floor(ranks) == ranks), ranks, np.nan)


def _rank(value: float) -> int | None:
    return None if value != value else int(value)
