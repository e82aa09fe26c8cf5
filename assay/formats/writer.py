"""Shared parts of all writers: row order, ids that can be written, and changes made on export."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, Protocol, TypeVar

from assay.core.csv_cells import csv_row
from assay.core.errors import NotValid
from assay.core.text_column import distinct
from assay.core.text_rules import MAX_LENGTH, id_fault
from assay.formats.row_columns import Coded, RowColumns

if TYPE_CHECKING:
    from assay.core.text_column import Places
    from assay.formats.row_types import LabelRow, RunRow

MAX_SHOWN = 20
LINES_AT_ONCE = 4_096

PLAIN_ID = re.compile(f"[!-~]{{1,{MAX_LENGTH}}}")
_CONTROL_OR_SPACE = re.compile(r"[%\s\x00-\x1f\x7f-\x9f]")


class _Paired(Protocol):
    @property
    def query_id(self) -> str: ...
    @property
    def doc_id(self) -> str: ...


PairedRow = TypeVar("PairedRow", bound=_Paired)
WrittenRow = TypeVar("WrittenRow")


@dataclass(frozen=True, slots=True)
class Written:
    """Number of written rows, notes on changes, the encoded ids (original to encoded), and the file that lists them."""

    rows: int
    notes: tuple[str, ...] = ()
    idmap: Mapping[str, str] = field(default_factory=dict)
    idmap_name: str = "idmap.tsv"


def export_order(rows: Iterable[PairedRow]) -> list[PairedRow]:
    """Return rows sorted by query id, then document id; code points sort like UTF-8 bytes."""
    return sorted(rows, key=lambda row: (row.query_id, row.doc_id))


class Ordered(Generic[WrittenRow]):
    """Rows in the order of writing, which can be iterated more than once."""

    def __init__(self, rows: Sequence[WrittenRow], order: Places | None = None) -> None:
        self.rows, self.order = rows, order

    def __len__(self) -> int:
        return len(self.rows)

    def values(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Yield these fields of each row; there are at least two of them."""
        if isinstance(self.rows, RowColumns):
            return self.rows.values(*names, order=self.order)
        return map(attrgetter(*names), self.rows)

    def ids(self) -> Iterator[str]:
        """Yield all query and document ids, each query id at least once."""
        if isinstance(self.rows, RowColumns):
            documents = (doc_id for doc_id, _ in self.rows.values("doc_id", "line"))
            return chain(distinct(self.rows.texts("query_id"))[0], documents)
        return chain.from_iterable(self.values("query_id", "doc_id"))


def graded_order(rows: Iterable[LabelRow], *, unrated: bool = False) -> Ordered[LabelRow]:
    """Return rows that have a grade, or all rows, by query id, then document id."""
    if not isinstance(rows, RowColumns):
        return Ordered(export_order(row for row in rows if unrated or row.grade is not None))
    grades = rows.columns["grade"]
    if not unrated and isinstance(grades, Coded) and None in grades.values:
        rows = rows.at(grades.where(lambda grade: grade is not None).nonzero()[0])
    _, query = distinct(rows.texts("query_id"))
    return Ordered(rows, rows.texts("doc_id").descending(-query)[::-1])


def write_csv(
    stream: BinaryIO,
    header: list[str],
    rows: Iterable[WrittenRow],
    cells: Callable[[WrittenRow], list[str]],
    what: str,
) -> Written:
    """Write rows in the given order under a header; ``what`` names a row in an error message."""
    stream.write(csv_row(header).encode())
    number = 0
    for row in rows:
        number += 1
        try:
            stream.write(csv_row(cells(row)).encode())
        except UnicodeEncodeError as error:
            raise NotValid(f"{what.format(row)} cannot be written as UTF-8: {error}") from error
    return Written(number)


def write_text(stream: BinaryIO, text: str) -> None:
    """Write a text, or raise an exception if UTF-8 cannot contain it."""
    try:
        stream.write(text.encode())
    except UnicodeEncodeError as error:
        raise NotValid(f"cannot be written as UTF-8: {error}") from error


def write_lines(stream: BinaryIO, lines: Iterable[str]) -> None:
    """Write lines, many at a time."""
    rest = iter(lines)
    while block := "".join(islice(rest, LINES_AT_ONCE)):
        stream.write(block.encode())


def optional_cell(value: float | None) -> str:
    """Return a number as a cell, empty for None."""
    return "" if value is None else str(value)


def refuse_ids(format: str, identifiers: Iterable[str], *, spaces: bool = False) -> None:
    """Raise an exception if an id cannot be written."""
    # Most ids are plain ASCII, for which a simple check is enough.
    doubtful = {text for text in identifiers if not PLAIN_ID.fullmatch(text)}
    bad = sorted(text for text in doubtful if id_fault(text, spaces=spaces))
    if bad:
        shown = ", ".join(map(repr, bad[:MAX_SHOWN])) + (f" and {len(bad) - MAX_SHOWN} more" if bad[MAX_SHOWN:] else "")
        raise NotValid(f"{format} cannot contain these ids: {shown}; rename them, or write with encode_ids")


def encode_id(text: str) -> str:
    """Percent-encode only ``%``, white space and control characters.

    Examples
    --------
    >>> encode_id("my doc"), encode_id("50%"), encode_id("é")
    ('my%20doc', '50%25', 'é')
    """
    return _CONTROL_OR_SPACE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), text)


def written_ids(format: str, identifiers: Iterable[str], encode: bool) -> dict[str, str]:
    """Return the encoded form of each id that needs it, or refuse such ids."""
    if not encode:
        refuse_ids(format, identifiers)
        return {}
    encoded = {text: encode_id(text) for text in identifiers}
    if "" in encoded:
        raise NotValid("an id is empty; add one")
    return {text: code for text, code in sorted(encoded.items()) if text != code}


class WholeGrades(dict[float | None, str]):
    """The digits of each whole grade, for many rows with few grades; fractions are refused."""

    def of(self, grade: float | None, query_id: str, doc_id: str) -> str:
        """Return the digits of a row's grade."""
        digits = self.get(grade)
        if digits is None:
            digits = self[grade] = whole_grade(grade, query_id, doc_id)
        return digits


def whole_grade(grade: float | None, query_id: str, doc_id: str) -> str:
    """Return a whole grade as digits; fractions are refused."""
    if grade is None or grade != int(grade):
        where = f"query {query_id!r}, document {doc_id!r}"
        raise NotValid(
            f"{where}: the grade {grade} is not a whole number; use a label rule whose labels are on the scale"
        )
    return str(int(grade))


def ranked_order(rows: Iterable[RunRow]) -> Ordered[RunRow]:
    """Return results with their ranks, sorted by query, then as in trec_eval by score and document, descending."""
    if isinstance(rows, RowColumns):
        return _ranked_columns(rows)
    by_query: dict[str, list[RunRow]] = {}
    for row in rows:
        by_query.setdefault(row.query_id, []).append(row)
    return Ordered(
        [
            replace(row, rank=rank)
            for query_id in sorted(by_query)
            for rank, row in enumerate(
                sorted(by_query[query_id], key=lambda row: (row.score, row.doc_id), reverse=True), start=1
            )
        ]
    )


def _ranked_columns(rows: RowColumns[RunRow]) -> Ordered[RunRow]:
    import numpy as np

    _, query = distinct(rows.texts("query_id"))
    order = rows.texts("doc_id").descending(query)
    order = order[np.lexsort((-np.asarray(rows.columns["score"])[order], query[order]))]
    sizes = np.bincount(query)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(1, len(order) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Ordered(RowColumns(rows.make, rows.columns | {"rank": ranks}), order)


def finite_score(format: str, score: float, query_id: str, doc_id: str) -> float:
    """Return a score that the format can store."""
    if not math.isfinite(score):
        where = f"query {query_id!r}, document {doc_id!r}"
        raise NotValid(f"{where}: {format} cannot contain the score {score}; use a finite number, or write a TREC run")
    return float(score)


def fields_left_out(format: str, rows: Sequence[object], names: Iterable[str]) -> tuple[str, ...]:
    """Return a note that these fields are not written, if a row has a value in any of them."""
    known = names if not isinstance(rows, RowColumns) else [name for name in names if name in rows.columns]
    left = [name for name in known if any(getattr(row, name) not in ("", None, ()) for row in rows)]
    return (f"{format} cannot store all fields; left out: {', '.join(left)}",) if left else ()


def tags_left_out(format: str, ordered: Ordered[RunRow]) -> tuple[str, ...]:
    """Return a note that tags are not written, if there are any."""
    tags = sorted({tag for tag, _ in ordered.values("tag", "doc_id") if tag})
    if not tags:
        return ()
    shown = ", ".join(tags[:3]) + (f" and {len(tags) - 3} more" if tags[3:] else "")
    return (f"{format} cannot store tags; left out: {shown}",)
