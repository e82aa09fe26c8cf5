"""Layout of counted queries in CSV: ``query,count``, optionally with clients and language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from assay.core.read_report import Tally
from assay.core.text_column import Texts
from assay.formats.column_reader import Flags, Plain
from assay.formats.csv_columns import CsvLayout, whole_numbers
from assay.formats.delimited import Cells, Columns
from assay.formats.grade_cells import Keyed
from assay.formats.log_rows import LogBooks, Repeated, check_for_queries
from assay.formats.number_cells import count
from assay.formats.query_texts import MAX_QUERY, could_be_query
from assay.formats.row_columns import Coded, Column, Meant
from assay.formats.row_types import LogRow
from assay.formats.text_lines import Content
from assay.formats.trec_columns import BLANK, DELETE, Fields, numbers_or_nan


class CountedLog(CsvLayout[LogRow]):
    """Records of a query and its count under a header."""

    row = LogRow
    keys = ("query",)

    def __init__(
        self,
        content: Content,
        columns: Columns,
        repeated: Repeated | None,
        *,
        mapping: Mapping[str, str] | None = None,
        delimiter: str | None = None,
    ) -> None:
        super().__init__(content, columns, mapping=mapping, delimiter=delimiter)
        self.repeated = repeated

    def keyed(self, tally: Tally) -> Keyed[LogRow]:
        return _Counted(tally, self.repeated)

    def split(self, data: bytes) -> Fields | None:
        # All times must be of the same kind, and own ids must be checked individually.
        careful = {"timestamp", "query_id"} & self.places.keys() or "count" not in self.places
        return None if careful else super().split(data)

    def plain(self, fields: Fields) -> Plain:
        queries, counts = fields.texts(self.places["query"]), fields.texts(self.places["count"])
        good = _plain_queries(queries) & whole_numbers(counts) & (counts.ends > counts.starts)
        numbers = np.nan_to_num(numbers_or_nan(counts)).astype(np.int64)
        good &= numbers >= 1
        columns: dict[str, Column] = {"query": queries, "count": numbers}
        if (clients := self.texts(fields, "clients")) is not None:
            good &= whole_numbers(clients)
            columns["clients"] = Meant(clients, _clients)
        if (languages := self.texts(fields, "language")) is not None:
            columns["language"] = Coded.of(languages).mapped(lambda text: text.strip(" \t"))
        for name in ("client_id", "clicks"):
            if (texts := self.texts(fields, name)) is not None:
                columns[name] = texts
        return Plain(columns, good)

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[LogRow]) -> None:
        check_for_queries(cells.of, tally, cells.line)
        if isinstance(by_key, _Counted):
            by_key.searches += by_key.books.take_cells(cells)


class _Counted(Keyed[LogRow]):
    """Accepted rows of a counted log, one for each query."""

    def __init__(self, tally: Tally, repeated: Repeated | None) -> None:
        super().__init__(tally)
        self.books = LogBooks(tally, repeated)
        # In case the file has no counts after all.
        self.searches: list[LogRow] = []

    def places(self) -> list[tuple[int, LogRow]]:
        return [(row.line, row) for row in self.rows()]

    def rows(self) -> Iterator[LogRow]:
        return chain(self.searches, self.books.counted())

    def all_rows(self) -> list[LogRow]:
        return self.books.all_counted()


def _clients(text: str) -> int | None:
    return count(text, "clients")


def _plain_queries(queries: Texts) -> Flags:
    """Return which texts are surely valid queries."""
    sizes = queries.ends - queries.starts
    good: Flags = (sizes > 0) & (sizes <= MAX_QUERY)
    first = queries.buffer[queries.starts]
    # A leading blank, or letters outside ASCII, may be the whole text.
    for row in np.flatnonzero(good & ((first <= BLANK) | (first >= DELETE))).tolist():
        good[row] = could_be_query(queries[row])
    return good
