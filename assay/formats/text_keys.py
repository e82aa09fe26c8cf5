"""Parts of formats that identify queries by their text instead of an id."""

from __future__ import annotations

from typing import Any

from assay.core.read_report import Tally
from assay.formats.grade_cells import RowFault
from assay.formats.queries import note_personal, query_fault
from assay.formats.value_kinds import value_kind


class TextKeys:
    """Numbers the queries of a file by their text: q001, q002, ... in the order of the file."""

    def __init__(self, tally: Tally) -> None:
        self.ids: dict[str, str] = {}
        self._tally = tally

    def query_id(self, text: Any, line: int) -> str:
        """Return the id of a text, or raise `RowFault` if it cannot be a query."""
        if not isinstance(text, str):
            raise RowFault("E23", f"the query is {value_kind(text)}, not text")
        if text not in self.ids:
            if fault := query_fault(text):
                raise RowFault(*fault)
            note_personal(self._tally, line, text)
            self.ids[text] = f"q{len(self.ids) + 1:03d}"
        return self.ids[text]


def whole_rating(value: Any, scale: frozenset[int] | None = None) -> int:
    """Return a grade that is written as a JSON number or in a cell, such as 3, 3.0 or "3.0"."""
    known = f"one of {', '.join(map(str, sorted(scale)))}" if scale else "a whole number"
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        grade = float(value)
        if abs(grade) > 1e15 or (
            isinstance(value, str) and not value.strip().lstrip("+-").replace(".", "", 1).isdigit()
        ):
            raise ValueError
    except ValueError:
        raise RowFault("E12", f"the rating {value!r} is not a number", f"expected {known}") from None
    if grade != int(grade):
        raise RowFault("E13", f"the rating {value} is a fraction", f"expected {known}, or map the ratings first")
    if scale and int(grade) not in scale:
        fix = f"expected {known}; if the scale changed after the rating, rate the pair again or map the rating"
        raise RowFault("E14", f"the rating {value} is not on the scale of the file", fix)
    return int(grade)
