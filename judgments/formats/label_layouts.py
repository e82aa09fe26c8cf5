"""How labels stand in the files that may be large: TREC qrels, with subtopics or without, CSV and BEIR's TSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypeVar

import numpy as np

from judgments.core.report import Tally
from judgments.core.texts import Texts
from judgments.formats.column_reader import Flags, Layout, Lines, Plain, Warned, count_grades, plain_ids
from judgments.formats.csv_columns import CsvLayout, split_cells
from judgments.formats.delimited import Cells
from judgments.formats.entries import Cell, Entry, add_label
from judgments.formats.grades import Fault, Keyed, Pick, scale_grade
from judgments.formats.row_columns import Coded, Column
from judgments.formats.rows import LabelRow, SubtopicRow
from judgments.formats.trec_columns import Fields, numbers_or_nan
from judgments.formats.trec_layout import TrecLayout

Row = TypeVar("Row")
Grades = tuple[int, ...] | None


class _Labels(Layout[Row]):
    """What all files of labels share: the scale, and which of two grades counts."""

    grades: Grades = None
    conflicts: Pick | None = None
    # Whether a grade must be a whole number where no scale is given.
    whole = False

    def of(self, grades: Grades, conflicts: Pick | None) -> Self:
        """Set what the user says of the file."""
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
        found = Coded.of(texts).mapped(lambda text: scale_grade(text.strip(), self.grades))
        good = ~found.where(lambda grade: isinstance(grade, Fault))
        repaired = found.where(lambda grade: not isinstance(grade, Fault) and grade[1])
        return found.mapped(lambda grade: None if isinstance(grade, Fault) else self.kind(grade[0])), good, repaired

    # What a grade on a scale is in a row.
    kind: Callable[[int], float] = staticmethod(int)


class TrecQrels(TrecLayout[LabelRow], _Labels[LabelRow]):
    """Lines of query, iteration, document and grade."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    width = 4

    def plain(self, found: Fields) -> Plain:
        query_ids, doc_ids = found.texts(0), found.texts(2)
        grades, good, repaired = self.graded(found.texts(3))
        good &= plain_ids(query_ids) & plain_ids(doc_ids)
        wide = np.zeros(found.rows, dtype=np.bool_)
        wide[found.wider(4)] = True
        if self.grades is not None:
            good &= ~wide
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "grade": grades,
            "origin": Coded.of(found.texts(1)),
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired), Warned("W45", wide)])

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, kept: Keyed[LabelRow]) -> None:
        from judgments.formats.trec_qrels import add_line

        add_line(parts, line, raw, tally, kept, self.grades)


class TrecSubtopicQrels(TrecLayout[SubtopicRow], _Labels[SubtopicRow]):
    """Lines of query, subtopic, document and grade."""

    row = SubtopicRow
    keys = ("query_id", "subtopic", "doc_id")
    width = 4

    def plain(self, found: Fields) -> Plain:
        query_ids, subtopics, doc_ids = found.texts(0), found.texts(1), found.texts(2)
        grades, good, repaired = self.graded(found.texts(3))
        good &= plain_ids(query_ids) & plain_ids(subtopics) & plain_ids(doc_ids)
        good[found.wider(4)] = False
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "subtopic": subtopics,
            "doc_id": doc_ids,
            "grade": grades,
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired)])

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, kept: Keyed[SubtopicRow]) -> None:
        from judgments.formats.trec_subtopic_qrels import add_line

        add_line(parts, line, raw, tally, kept, self.grades)


class CsvQrels(CsvLayout[LabelRow], _Labels[LabelRow]):
    """Records of query, document and grade under a header."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    kind = staticmethod(float)

    def plain(self, found: Fields) -> Plain:
        query_ids, doc_ids = (found.texts(self.places[name]) for name in ("query_id", "doc_id"))
        grades, good, repaired = self.graded(found.texts(self.places["grade"]))
        good &= plain_ids(query_ids) & plain_ids(doc_ids)
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "grade": grades,
            "origin": Coded.same("2", found.rows),
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired)])

    def add(self, cells: Cells, tally: Tally, kept: Keyed[LabelRow]) -> None:
        of = cells.of
        grade = Cell(of["grade"])
        entry = Entry(cells.line, of["query_id"], of["doc_id"], grade, raw=cells.raw, repaired=cells.repaired)
        add_label(entry, tally, self.grades, kept)


class BeirQrels(_Labels[LabelRow]):
    """Lines of query, document and grade with TABs between, under BEIR's header."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    lone_returns = True
    whole = True

    def begin(self, lines: Lines, tally: Tally) -> None:
        from judgments.formats.beir_qrels import read_header

        read_header(_texts(lines), tally)

    def split(self, data: bytes) -> Fields | None:
        return split_cells(data, "\t", 3, quotes=False)

    def plain(self, found: Fields) -> Plain:
        query_ids, doc_ids = found.texts(0), found.texts(1)
        grades, good, repaired = self.graded(found.texts(2))
        good &= plain_ids(query_ids) & plain_ids(doc_ids)
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "grade": grades,
            "origin": Coded.same("2", found.rows),
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired)])

    def careful(self, lines: Lines, tally: Tally, kept: Keyed[LabelRow]) -> None:
        from judgments.formats.beir_qrels import add_lines

        add_lines(_texts(lines), tally, kept, self.grades)


def _texts(lines: Lines) -> Iterator[tuple[int, str]]:
    """Yield (number, text) without the lines' ends."""
    return ((number, text.rstrip("\r\n")) for number, text in lines.lines_with_ends())
