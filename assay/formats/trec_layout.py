"""Layout of TREC files, whose lines are fields separated by white space."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from assay.core.read_report import Tally
from assay.formats.column_reader import Layout, Lines
from assay.formats.grade_cells import Keyed
from assay.formats.trec_columns import Fields, split_fields
from assay.formats.trec_fields import records

Row = TypeVar("Row")


class TrecLayout(Layout[Row]):
    """Layout of the rows in a TREC file; formats define the rows."""

    # Number of fields in a line.
    width: int
    lone_returns = True

    def split(self, data: bytes) -> Fields | None:
        return split_fields(data, self.width, tolerant=True)

    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[Row]) -> None:
        texts = ((line, text.rstrip("\r\n")) for line, text in lines.lines_with_ends())
        for line, text, parts in records(texts, tally):
            self.add(parts, line, text, tally, by_key)

    @abstractmethod
    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[Row]) -> None:
        """Add a line that was read carefully."""
