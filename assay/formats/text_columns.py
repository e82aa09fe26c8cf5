"""Fast reader and writer of CSV files of labels that identify queries by their text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import BinaryIO

from assay.core.csv_cells import csv_row, quoted
from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.column_names import ColumnMap
from assay.formats.column_reader import Plain, Warned, count_grades, plain_ids, rows_in_columns
from assay.formats.csv_columns import CsvLayout
from assay.formats.delimited import Cells, Columns
from assay.formats.grade_cells import Grades, Keyed, Pick
from assay.formats.queries import could_be_query, may_be_personal
from assay.formats.row_columns import Coded, Column
from assay.formats.row_types import LabelRow
from assay.formats.text_keys import TextLabels, number_text, numbered, ordered_texts
from assay.formats.text_lines import Content
from assay.formats.trec_lines import Fields
from assay.formats.writer import Written, graded_order, write_lines


class TextLabelLayout(CsvLayout[LabelRow]):
    """Layout of rows with the text of a query, a document and a rating."""

    row = LabelRow
    keys = ("query", "doc_id")
    # The names of the columns with the query and the document.
    query_column, document_column = "query", "docid"
    # Whether a row without a document and a rating is a query without labels.
    lone_queries = True

    def __init__(
        self, content: Content, columns: Columns, grades: Grades, conflicts: Pick | None, *, mapping: ColumnMap = None
    ) -> None:
        super().__init__(content, columns, mapping=mapping, unescaped=False)
        self.grades, self.conflicts = grades, conflicts

    def query_of(self, cells: Cells, tally: Tally) -> str:
        """Return the query of a record that is read carefully."""
        return cells.of[self.query_column]

    def is_plain(self, query: str) -> bool:
        """Return whether a query can be read without a change or a warning."""
        return could_be_query(query) and not may_be_personal(query)

    def keyed(self, tally: Tally) -> Keyed[LabelRow]:
        self._labels = TextLabels(tally, self.conflicts, self.grades)
        return self._labels.by_key

    def plain(self, fields: Fields) -> Plain:
        queries, doc_ids = fields.texts(self.places[self.query_column]), fields.texts(self.places[self.document_column])
        given = Coded.of(fields.texts(self.places["rating"])).mapped(self._grade)
        good = plain_ids(doc_ids) & given.where(lambda grade: grade is not None)
        good &= Coded.of(queries).where(self.is_plain)
        repaired = given.where(lambda grade: grade is not None and grade[1])
        columns: dict[str, Column] = {
            "query": queries,
            "doc_id": doc_ids,
            "grade": given.mapped(lambda grade: grade and grade[0]),
        }
        return Plain(columns, good, repaired, [Warned("W32", repaired)])

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        query, doc_id, rating = self.query_of(cells, tally), cells.of[self.document_column], cells.of["rating"]
        if not doc_id and not rating and self.lone_queries:
            self._labels.without_labels(query, cells.line, cells.raw, counted_as="blank")
        else:
            self._labels.add(query, doc_id, rating.strip(), cells.line, cells.raw)

    def count(self, rows: Sequence[LabelRow], tally: Tally) -> None:
        count_grades(rows, tally)

    def _grade(self, text: str) -> tuple[float | None, bool] | None:
        """Return the grade of a cell, and whether it was repaired; None if the careful reader must report the cell."""
        try:
            return TextLabels(Tally("", ""), None, self.grades).grade(text) if text.strip() else (None, False)
        except RowFault:
            return None


def numbered_rows(content: Content, tally: Tally, layout: TextLabelLayout) -> Sequence[LabelRow]:
    """Read the rows of a file; its queries get the ids q001, q002, ... in the order of the file."""
    rows = rows_in_columns(content, tally, layout)
    if not rows:
        return []
    return numbered(rows)


def write_text_labels(
    format: str,
    header: list[str],
    line: Callable[[str, str, str], str],
    rows: Iterable[LabelRow],
    stream: BinaryIO,
    queries: Mapping[str, str] | None,
    *,
    query_cell: Callable[[str], str] = str,
    omit_unrated: bool = True,
) -> Written:
    """Write a CSV file with a line for each label, made from the cells of its query, its document and its grade."""
    ordered = graded_order(rows, unrated=not omit_unrated)
    texts = ordered_texts(format, ordered, queries)
    cells = {query_id: quoted(query_cell(text)) for query_id, text in texts.items()}
    digits: dict[float | None, str] = {None: ""}

    def grade_cell(grade: float | None) -> str:
        if grade not in digits:
            digits[grade] = number_text(grade or 0)
        return digits[grade]

    values = ordered.values("query_id", "doc_id", "grade")
    stream.write(csv_row(header).encode())
    try:
        write_lines(
            stream, (line(cells[query_id], quoted(doc_id), grade_cell(grade)) for query_id, doc_id, grade in values)
        )
    except UnicodeEncodeError as error:
        raise NotValid(f"{format}: an id or a query cannot be written as UTF-8: {error}") from error
    return Written(len(ordered))
