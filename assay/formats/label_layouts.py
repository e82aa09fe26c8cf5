"""Layouts of large label files: TREC qrels with or without subtopics, CSV and BEIR's TSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypeVar

import numpy as np

from assay.core.read_report import Tally
from assay.core.text_column import Texts
from assay.formats.column_reader import Flags, Layout, Lines, Plain, Warned, count_grades, plain_ids
from assay.formats.csv_columns import CsvLayout, split_cells
from assay.formats.delimited import Cells
from assay.formats.grade_cells import Fault, Keyed, Pick, scale_grade
from assay.formats.pair_entries import Cell, Entry, add_label
from assay.formats.row_columns import Coded, Column
from assay.formats.row_types import LabelRow, SubtopicRow
from assay.formats.trec_columns import Fields, numbers_or_nan
from assay.formats.trec_layout import TrecLayout

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
        coded = Coded.of(texts).mapped(lambda text: scale_grade(text.strip(), self.grades))
        good = ~coded.where(lambda grade: isinstance(grade, Fault))
        repaired = coded.where(lambda grade: not isinstance(grade, Fault) and grade[1])
        return coded.mapped(lambda grade: None if isinstance(grade, Fault) else self.kind(grade[0])), good, repaired

    # Type of a grade on a scale in a row.
    kind: Callable[[int], float] = staticmethod(int)


class TrecQrels(TrecLayout[LabelRow], _Labels[LabelRow]):
    """Lines with query, iteration, document and grade."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    width = 4

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = fields.texts(0), fields.texts(2)
        grades, good, repaired = self.graded(fields.texts(3))
        good &= plain_ids(query_ids) & plain_ids(doc_ids)
        wide = np.zeros(fields.rows, dtype=np.bool_)
        wide[fields.wider(4)] = True
        if self.grades is not None:
            good &= ~wide
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "grade": grades,
            "origin": Coded.of(fields.texts(1)),
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired), Warned("W45", wide)])

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        from assay.formats.trec_qrels import add_line

        add_line(parts, line, raw, tally, by_key, self.grades)


class TrecSubtopicQrels(TrecLayout[SubtopicRow], _Labels[SubtopicRow]):
    """Lines of query, subtopic, document and grade."""

    row = SubtopicRow
    keys = ("query_id", "subtopic", "doc_id")
    width = 4

    def plain(self, fields: Fields) -> Plain:
        query_ids, subtopics, doc_ids = fields.texts(0), fields.texts(1), fields.texts(2)
        grades, good, repaired = self.graded(fields.texts(3))
        good &= plain_ids(query_ids) & plain_ids(subtopics) & plain_ids(doc_ids)
        good[fields.wider(4)] = False
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "subtopic": subtopics,
            "doc_id": doc_ids,
            "grade": grades,
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired)])

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[SubtopicRow]) -> None:
        from assay.formats.trec_subtopic_qrels import add_line

        add_line(parts, line, raw, tally, by_key, self.grades)


class CsvQrels(CsvLayout[LabelRow], _Labels[LabelRow]):
    """Records of query, document and grade under a header."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    kind = staticmethod(float)

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = (fields.texts(self.places[name]) for name in ("query_id", "doc_id"))
        grades, good, repaired = self.graded(fields.texts(self.places["grade"]))
        good &= plain_ids(query_ids) & plain_ids(doc_ids)
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "grade": grades,
            "origin": Coded.same("2", fields.rows),
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired)])

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
        from assay.formats.beir_qrels import read_header

        read_header(_texts(lines), tally)

    def split(self, data: bytes) -> Fields | None:
        return split_cells(data, "\t", 3, quotes=False)

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = fields.texts(0), fields.texts(1)
        grades, good, repaired = self.graded(fields.texts(2))
        good &= plain_ids(query_ids) & plain_ids(doc_ids)
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "grade": grades,
            "origin": Coded.same("2", fields.rows),
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired)])

    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        from assay.formats.beir_qrels import add_lines

        add_lines(_texts(lines), tally, by_key, self.grades)


def _texts(lines: Lines) -> Iterator[tuple[int, str]]:
    """Yield (number, text) without the lines' ends."""
    return ((number, text.rstrip("\r\n")) for number, text in lines.lines_with_ends())
