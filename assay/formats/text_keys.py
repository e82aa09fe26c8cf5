"""Parts of formats that identify queries by their text instead of an id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.core.text_column import distinct
from assay.formats.grade_cells import Grades, Keyed, Pick, any_grade, checked_id, scale_grade
from assay.formats.queries import checked_query, note_personal
from assay.formats.reader import note_unusual
from assay.formats.row_columns import Coded, RowColumns
from assay.formats.row_types import LabelRow, QueryRow, RatingRow, RunRow
from assay.formats.writer import MAX_SHOWN, Ordered, export_order

Row = TypeVar("Row", bound=LabelRow | QueryRow | RatingRow | RunRow)

WIDTH = 3


def query_number(number: int, largest: int = 0) -> str:
    """Return the id of a query by its place in the file; ids up to the largest number have the same length.

    Examples
    --------
    >>> query_number(7), query_number(7, 12_000)
    ('q007', 'q00007')
    """
    return f"q{number:0{max(WIDTH, len(str(largest)))}d}"


class TextKeys:
    """Numbers the queries of a file by their text: q001, q002, ... in the order of the file."""

    def __init__(self, tally: Tally) -> None:
        self.ids: dict[str, str] = {}
        self._tally = tally

    def query_id(self, text: Any, line: int) -> str:
        """Return the id of a text, or raise `RowFault` if it cannot be a query."""
        if not isinstance(text, str) or text not in self.ids:
            note_personal(self._tally, line, checked_query(text))
            self.ids[text] = query_number(len(self.ids) + 1)
        return self.ids[text]

    def padded(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows with ids of the same length, which sort in the order of the file."""
        width = len(str(len(self.ids)))
        if width <= WIDTH:
            yield from rows
        else:
            for row in rows:
                yield replace(row, query_id=f"q{row.query_id[1:]:0>{width}}")


class TextLabels:
    """Collects the labels of a file whose queries are identified by their text; each label is counted in one bin."""

    def __init__(self, tally: Tally, conflicts: Pick | None, grades: Grades = None, *, whole: bool = False) -> None:
        self._tally, self._grades, self._whole = tally, grades, whole
        self.keys = TextKeys(tally)
        self.by_key: Keyed[LabelRow] = Keyed(tally, conflicts)

    def add(
        self,
        query: Any,
        doc_id: str,
        value: Any,
        line: int,
        raw: str,
        *,
        column: str = "",
        repaired: bool = False,
        group: str = "",
    ) -> None:
        """Add a label if it is valid; an empty cell or null is a pair without a grade."""
        with self._tally.rejecting(line, raw=raw, column=column):
            query_id = self.keys.query_id(query, line)
            checked_id(doc_id)
            grade, pointed = (None, False) if value in (None, "") else self.grade(value)
            if pointed:
                self._tally.once("W32", line, f"the grade is written as {value}", done=f"read as {grade:g}")
            note_unusual(self._tally, line, doc_id)
            row = LabelRow(query_id, doc_id, grade, query=query, line=line, by_text=True, group=group)
            self.by_key.add((query, doc_id), grade, row, line, raw, pointed or repaired)

    def without_labels(self, query: Any, line: int, raw: str, *, counted_as: str, column: str = "") -> None:
        """Count a query without documents, which has no labels to read."""
        with self._tally.rejecting(line, raw=raw, column=column):
            self.keys.query_id(query, line)
            self._tally.put(counted_as)
            self._tally.once("W65", line, "a query without documents", done="skipped")

    def rows(self) -> Iterator[LabelRow]:
        """Yield the accepted labels in the order of the file."""
        for row in self.keys.padded(self.by_key.rows()):
            if row.grade is not None:
                self._tally.grade(row.grade)
            yield row

    def grade(self, value: Any) -> tuple[float, bool]:
        """Return a grade, and whether it was repaired; without a scale, 3.0 is as good as 3."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise RowFault("E12", f"the grade {value!r} is not a number", "expected a number such as 3")
        text = value.strip() if isinstance(value, str) else repr(value)
        if self._grades is None and not self._whole:
            return any_grade(text)
        grade, repaired = scale_grade(text, self._grades)
        return grade, repaired and self._grades is not None


def with_query_ids(rows: Sequence[Row], ids: Mapping[str, str]) -> Sequence[Row]:
    """Return the rows with the ids of their queries' texts."""
    if not isinstance(rows, RowColumns):
        return [replace(row, query_id=ids[row.query]) for row in rows]
    queries = coded_queries(rows)
    known = {"query": queries, "query_id": queries.mapped(lambda text: ids[text])}
    return RowColumns(rows.make, rows.columns | known)


def numbered(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows with the ids q001, q002, ... of their queries, in the order of the file."""
    if isinstance(rows, RowColumns):
        rows = RowColumns(rows.make, rows.columns | {"by_text": Coded.same(True, len(rows))})
    texts = query_texts(rows)
    return with_query_ids(rows, {text: query_number(at, len(texts)) for at, text in enumerate(texts, 1)})


def query_texts(rows: Sequence[Row]) -> list[str]:
    """Return the distinct texts of the rows' queries, in the order of the file."""
    if isinstance(rows, RowColumns):
        return coded_queries(rows).values
    return list(dict.fromkeys(row.query for row in rows))


def coded_queries(rows: RowColumns[Any]) -> Coded:
    """Return the texts of the rows' queries as numbers, in the order of the file."""
    column = rows.columns["query"]
    if isinstance(column, Coded):
        return column
    texts, codes = distinct(rows.texts("query"))
    order = np.argsort(np.unique(codes, return_index=True)[1])
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return Coded([texts[at] for at in order.tolist()], place[codes])


@dataclass(frozen=True, slots=True)
class QueryLabels:
    """A query with its text and its labels in the order of their documents."""

    query_id: str
    query: str
    labels: list[LabelRow]


def labels_by_query(
    format: str, rows: Iterable[LabelRow], queries: Mapping[str, str] | None, *, omit_unrated: bool = True
) -> list[QueryLabels]:
    """Return the labels of each query in the order of the ids; a missing or shared text is refused."""
    exported = export_order(row for row in rows if row.grade is not None or not omit_unrated)
    grouped: list[QueryLabels] = []
    for query_id, group in groupby(exported, key=lambda row: row.query_id):
        labels = list(group)
        own = next((row.query for row in labels if row.query), "")
        grouped.append(QueryLabels(query_id, query_text(format, query_id, own, queries), labels))
    refuse_shared_texts(format, ((one.query_id, one.query) for one in grouped))
    return grouped


def ordered_texts(format: str, ordered: Ordered[Any], queries: Mapping[str, str] | None) -> dict[str, str]:
    """Return the text of each query of ordered rows; a missing or shared text is refused."""
    rows, texts = ordered.rows, dict[str, str]()
    if isinstance(rows, RowColumns):
        ids, codes = distinct(rows.texts("query_id"))
        first = np.unique(codes, return_index=True)[1].tolist()
        own = rows.texts("query") if "query" in rows.columns else None
        texts = {query_id: own[place] if own else "" for query_id, place in zip(ids, first, strict=True)}
    else:
        for row in rows:
            texts[row.query_id] = texts.get(row.query_id) or row.query
    texts = {query_id: query_text(format, query_id, text, queries) for query_id, text in texts.items()}
    refuse_shared_texts(format, texts.items())
    return texts


def query_text(format: str, query_id: str, own: str, queries: Mapping[str, str] | None = None) -> str:
    """Return the text of a query, without which the format cannot be written."""
    if text := (queries or {}).get(query_id) or own:
        return text
    raise NotValid(f"query {query_id!r} has no text, which {format} needs; add the texts (--queries queries.csv)")


def refuse_shared_texts(format: str, queries: Iterable[tuple[str, str]]) -> None:
    """Raise an exception if two queries (id, text) have the same text."""
    ids: dict[str, str] = {}
    shared = [(ids[text], query_id, text) for query_id, text in queries if ids.setdefault(text, query_id) != query_id]
    if shared:
        shown = ", ".join(f"{one} and {other} ({text!r})" for one, other, text in shared[:MAX_SHOWN])
        more = f" and {len(shared) - MAX_SHOWN} more" if shared[MAX_SHOWN:] else ""
        raise NotValid(f"{format} identifies queries by their text; these share one: {shown}{more}; change one of them")


def number_text(grade: float) -> str:
    """Return a grade as a whole number if it is one, otherwise as the shortest fraction.

    Examples
    --------
    >>> number_text(3.0), number_text(2.5)
    ('3', '2.5')
    """
    return str(int(grade)) if grade == int(grade) else repr(float(grade))


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
