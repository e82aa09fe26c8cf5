"""How rows stand in a TREC file, for all formats whose lines are fields with white space between."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from judgments.core.report import Tally
from judgments.formats.column_reader import Layout, Lines
from judgments.formats.grades import Keyed
from judgments.formats.trec_columns import Fields, split_fields
from judgments.formats.trec_fields import records

Row = TypeVar("Row")


class TrecLayout(Layout[Row]):
    """How rows stand in a TREC file; formats say what a row is."""

    # How many fields a line has.
    width: int
    lone_returns = True

    def split(self, data: bytes) -> Fields | None:
        return split_fields(data, self.width, tolerant=True)

    def careful(self, lines: Lines, tally: Tally, kept: Keyed[Row]) -> None:
        texts = ((line, text.rstrip("\r\n")) for line, text in lines.lines_with_ends())
        for line, text, parts in records(texts, tally):
            self.add(parts, line, text, tally, kept)

    @abstractmethod
    def add(self, parts: list[str], line: int, raw: str, tally: Tally, kept: Keyed[Row]) -> None:
        """Take in one line that was read with care."""
