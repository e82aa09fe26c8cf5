"""Validation of labels and results, independent of the file layout.

JSON, JSONL, CSV and Parquet contain the same rows: query, document, and a grade or a score. Each layout yields
entries, and their problems are detected in this file, so that all layouts report them in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.core.read_report import Tally
from assay.formats.grade_cells import Keyed, Pick, RowFault, any_grade, checked_id, scale_grade
from assay.formats.reader import note_unusual
from assay.formats.row_types import LabelRow, RunRow
from assay.formats.trec_lines import EXACT_WHOLE, number, rank_of

MIXED = {
    False: ("no score, although earlier rows have one", "expected a score such as 12.5"),
    True: ("a score, although earlier rows have only ranks", "leave out the scores, or add a score to each row"),
}


class Absent:
    """Marker for the score of a file that has only ranks."""


class Entry(NamedTuple):
    """A pair of a file before its number is parsed."""

    line: int
    query_id: str
    doc_id: str
    value: object
    rank: object = None
    tag: str = ""
    raw: str = ""
    where: str = ""
    repaired: bool = False


def labels(
    entries: Iterable[Entry], tally: Tally, grades: tuple[int, ...] | None, conflicts: Pick | None
) -> Iterator[LabelRow]:
    """Yield the labels; every entry is counted in one bin."""
    by_key: Keyed[LabelRow] = Keyed(tally, conflicts)
    for entry in entries:
        add_label(entry, tally, grades, by_key)
    for row in by_key.rows():
        tally.grade(row.grade or 0)
        yield row


def add_label(entry: Entry, tally: Tally, grades: tuple[int, ...] | None, by_key: Keyed[LabelRow]) -> None:
    """Add one label if it is valid."""
    try:
        _check_ids(entry, tally)
        grade, repaired = _grade(entry, grades, tally)
    except RowFault as fault:
        _reject(entry, fault, tally, "grade")
        return
    row = LabelRow(entry.query_id, entry.doc_id, grade, "2", line=entry.line)
    bin = "repaired" if repaired or entry.repaired else "accepted"
    by_key.add((entry.query_id, entry.doc_id), grade, row, entry.line, entry.raw, bin)


def results(entries: Iterable[Entry], tally: Tally) -> Iterator[RunRow]:
    """Yield the results of a run; every entry is counted in one bin."""
    by_key: Keyed[RunRow] = Keyed(tally, twice_is_conflict=True)
    ranked, without = False, None
    for entry in entries:
        without = entry.value is Absent if without is None else without
        ranked = add_result(entry, tally, by_key, without=without) or ranked
    rows = list(by_key.rows())
    if ranked and rows:
        compare_ranks(rows, tally)
    yield from rows


def add_result(entry: Entry, tally: Tally, by_key: Keyed[RunRow], *, without: bool) -> bool:
    """Add one result if it is valid; return whether it has a rank."""
    try:
        _check_ids(entry, tally)
        if (entry.value is Absent) is not without:
            raise RowFault("E23", *MIXED[without])
        score, rank = _score(entry, tally)
    except RowFault as fault:
        _reject(entry, fault, tally, "rank" if entry.value is Absent else "score")
        return False
    row = RunRow(entry.query_id, entry.doc_id, score, rank, entry.tag, entry.line)
    bin = "repaired" if entry.repaired else "accepted"
    by_key.add((entry.query_id, entry.doc_id), score, row, entry.line, entry.raw, bin)
    return entry.rank not in (None, "")


def note_ranks_for_scores(tally: Tally, line: int, rows: int = 1) -> None:
    """Report that a run has no scores (W49)."""
    tally.once("W49", line, "no score", done="minus the rank is used as the score", times=rows)


def _check_ids(entry: Entry, tally: Tally) -> None:
    checked_id(entry.query_id, "query id")
    checked_id(entry.doc_id)
    note_unusual(tally, entry.line, entry.query_id, entry.doc_id)


def _grade(entry: Entry, grades: tuple[int, ...] | None, tally: Tally) -> tuple[float, bool]:
    text = _text_of_number(entry.value, "grade", "3")
    grade, repaired = any_grade(text) if grades is None else scale_grade(text, grades)
    if repaired:
        tally.once("W32", entry.line, f"the grade is written as {text}", done=f"read as {grade:g}")
    return float(grade), repaired


def _score(entry: Entry, tally: Tally) -> tuple[float, int | None]:
    rank = _rank(entry.rank)
    if entry.value is Absent:
        if rank is None:
            raise RowFault("E12", f"the rank {entry.rank!r} is not a whole number", "expected a rank such as 1")
        note_ranks_for_scores(tally, entry.line)
        return float(-rank), rank
    text = _text_of_number(entry.value, "score", "12.5")
    score = number(text, infinite=True)
    if score is None:
        raise RowFault("E12", f"the score {text!r} is not a number", "expected a number such as 12.5")
    if score in (float("inf"), float("-inf")):
        tally.once("W44", entry.line, "an infinite score", done="accepted; the document sorts first or last")
    return score, rank


def _text_of_number(value: object, name: str, example: str) -> str:
    """Return the text of a number; other values are refused with the name of their type."""
    expected = f"expected a number such as {example}"
    if isinstance(value, Cell):
        if not value.strip():
            raise RowFault("E12", f"the {name} is empty", f"{expected}, or leave the row out")
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value) if isinstance(value, float) else _digits(value, name, expected)
    if value is None:
        raise RowFault("E12", f"the {name} is null", f"{expected}, or leave the pair out")
    shown = f"the text {value!r}" if isinstance(value, str) else repr(value)[:80]
    raise RowFault("E12", f"the {name} is {shown}, not a number", expected)


def _digits(value: int, name: str, expected: str) -> str:
    if abs(value) >= 1 << 1000:
        raise RowFault("E12", f"the {name} is too large", expected)
    return str(value)


class Cell(str):
    """A number in a text cell, as in CSV; in JSON, a text is not a number."""

    __slots__ = ()


def _rank(value: object) -> int | None:
    if isinstance(value, str):
        return rank_of(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return rank_of(repr(value)) if abs(value) < EXACT_WHOLE else None
    return None


def _reject(entry: Entry, fault: RowFault, tally: Tally, name: str) -> None:
    column = entry.where or (name if fault.code == "E12" else "")
    tally.reject(fault.code, entry.line, str(fault), fix=fault.fix, raw=entry.raw, column=column)


def compare_ranks(rows: Sequence[RunRow], tally: Tally) -> None:
    """Warn if the ranks of a run contradict its scores (W40)."""
    from assay.core.text_column import grouped
    from assay.formats.run_reader import RunRows

    columns = RunRows.of(rows)
    columns.compare_ranks(grouped(columns.query_ids), tally)
