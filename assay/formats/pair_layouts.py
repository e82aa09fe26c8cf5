"""Layouts of large files of pairs: CSV, BEIR's TSV and MS MARCO's TSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import amount
from assay.formats.column_names import BEIR_HEADER
from assay.formats.column_reader import Lines, Plain, Warned, lines_without_ends, plain_ids
from assay.formats.csv_columns import CsvLayout, split_cells
from assay.formats.delimited import Cells
from assay.formats.grade_cells import Grades, Keyed, Pick, any_grade, checked_id, scale_grade
from assay.formats.reader import filled_lines, note_unusual
from assay.formats.row_columns import Coded, Column
from assay.formats.row_types import LabelRow, RunRow
from assay.formats.trec_lines import EXACT_WHOLE, Fields, number, numbers_or_nan, rank_of
from assay.formats.trec_qrels import LabelLayout
from assay.formats.trec_run import RunLayout, compare_ranks, rank_column, usable_ranks


class CsvQrels(CsvLayout[LabelRow], LabelLayout[LabelRow]):
    """Records of query, document and grade under a header."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    kind = staticmethod(float)

    def plain(self, fields: Fields) -> Plain:
        return self.labeled(fields, self.places, origin=Coded.same("2", fields.rows))

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        of = cells.of
        grade = Cell(of["grade"])
        entry = Entry(cells.line, of["query_id"], of["doc_id"], grade, raw=cells.raw, repaired=cells.repaired)
        add_label(entry, tally, self.grades, by_key)


class BeirQrels(LabelLayout[LabelRow]):
    """TAB-separated lines of query, document and grade, under BEIR's header."""

    row = LabelRow
    keys = ("query_id", "doc_id")
    lone_returns = True
    whole = True

    def begin(self, lines: Lines, tally: Tally) -> None:
        """Read the header, which is in the first line that is not blank."""
        for line, text in filled_lines(lines_without_ends(lines), tally):
            if text.strip().casefold() != BEIR_HEADER:
                expected = f"expected the header {BEIR_HEADER!r}; add it"
                tally.refuse(f"the first line is {text[:80]!r}", line=line, expected=expected, code="F04")
            tally.put("header")
            return

    def split(self, data: bytes) -> Fields | None:
        return split_cells(data, "\t", 3, quotes=False)

    def plain(self, fields: Fields) -> Plain:
        places = {"query_id": 0, "doc_id": 1, "grade": 2}
        return self.labeled(fields, places, origin=Coded.same("2", fields.rows))

    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        for line, text in filled_lines(lines_without_ends(lines), tally):
            self._add(text, line, tally, by_key)

    def _add(self, text: str, line: int, tally: Tally, by_key: Keyed[LabelRow]) -> None:
        parts = text.split("\t")
        with tally.rejecting(line, raw=text):
            if len(parts) != 3:
                fix = "expected query, document and grade, separated by tabs"
                raise RowFault("E10", f"{amount(len(parts), 'column')} instead of 3", fix)
            key = checked_id(parts[0], "query id"), checked_id(parts[1])
            value, repaired = scale_grade(parts[2].strip(), self.grades)
            if repaired:
                tally.once("W32", line, f"the grade is written as {parts[2]}", done=f"read as {value}")
            note_unusual(tally, line, *key)
            by_key.add(key, value, LabelRow(*key, value, "2", line=line), line, text, repaired)


class CsvRun(CsvLayout[RunRow], RunLayout):
    """Records of query, document, and score, rank or both, under a header."""

    def split(self, data: bytes) -> Fields | None:
        # The careful reader reports the missing field.
        return super().split(data) if {"score", "rank"} & self.places.keys() else None

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = (fields.texts(self.places[name]) for name in ("query_id", "doc_id"))
        good = plain_ids(query_ids) & plain_ids(doc_ids)
        columns: dict[str, Column] = {"query_id": query_ids, "doc_id": doc_ids}
        scored, ranked = self.texts(fields, "score"), self.texts(fields, "rank")
        warned = []
        if ranked is not None:
            ranks = numbers_or_nan(ranked)
            good &= ~np.isnan(ranks) | (ranked.ends == ranked.starts)
            columns["rank"] = rank_column(ranks)
        if scored is not None:
            columns["score"] = scores = numbers_or_nan(scored)
        elif ranked is not None:
            columns["score"] = scores = 0.0 - usable_ranks(ranks, np.nan)
            warned = [Warned("W49", np.ones(fields.rows, dtype=np.bool_))]
        good &= ~np.isnan(scores)
        if ranked is not None:
            self.ranked = self.ranked or bool((good & (ranked.ends > ranked.starts)).any())
        if (tags := self.texts(fields, "tag")) is not None:
            columns["tag"] = tags
        return Plain(columns, good, warned=warned)

    def add(self, cells: Cells, tally: Tally, by_key: Keyed[RunRow]) -> None:
        of = cells.of
        if "score" not in of and "rank" not in of:
            what, expected = "there is no column score", "add a score, or map a column (columns: score=NAME)"
            tally.refuse(what, line=1, expected=expected, code="F04")
        score = Cell(of["score"]) if "score" in of else Absent
        entry = Entry(
            cells.line,
            of["query_id"],
            of["doc_id"],
            score,
            of.get("rank"),
            of.get("tag", ""),
            cells.raw,
            repaired=cells.repaired,
        )
        self.ranked = add_result(entry, tally, by_key, without=score is Absent) or self.ranked


class MsMarcoRun(RunLayout):
    """TAB-separated lines of query, document and rank."""

    lone_returns = True

    def split(self, data: bytes) -> Fields | None:
        return split_cells(data, "\t", 3, quotes=False)

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = fields.texts(0), fields.texts(1)
        ranks = usable_ranks(numbers_or_nan(fields.texts(2)), np.nan)
        scores = 0.0 - ranks
        good = ~np.isnan(scores) & plain_ids(query_ids) & plain_ids(doc_ids)
        self.ranked = self.ranked or bool(good.any())
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "score": scores,
            "rank": rank_column(ranks),
        }
        return Plain(columns, good, warned=[Warned("W49", np.ones(fields.rows, dtype=np.bool_))])

    def careful(self, lines: Lines, tally: Tally, by_key: Keyed[RunRow]) -> None:
        for line, text in filled_lines(lines_without_ends(lines), tally):
            cells = text.split("\t")
            if len(cells) != 3:
                what = f"{amount(len(cells), 'column')} instead of 3"
                tally.reject("E10", line, what, fix="expected query, document and rank, separated by tabs", raw=text)
                continue
            entry = Entry(line, cells[0], cells[1], Absent, cells[2], raw=text)
            self.ranked = add_result(entry, tally, by_key, without=True) or self.ranked


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


def labels(entries: Iterable[Entry], tally: Tally, grades: Grades, conflicts: Pick | None) -> Iterator[LabelRow]:
    """Yield the labels; every entry is counted in one bin."""
    by_key: Keyed[LabelRow] = Keyed(tally, conflicts)
    for entry in entries:
        add_label(entry, tally, grades, by_key)
    for row in by_key.rows():
        tally.grade(row.grade or 0)
        yield row


def add_label(entry: Entry, tally: Tally, grades: Grades, by_key: Keyed[LabelRow]) -> None:
    """Add one label if it is valid."""
    try:
        _check_ids(entry, tally)
        grade, repaired = _grade(entry, grades, tally)
    except RowFault as fault:
        _reject(entry, fault, tally, "grade")
        return
    row = LabelRow(entry.query_id, entry.doc_id, grade, "2", line=entry.line)
    by_key.add((entry.query_id, entry.doc_id), grade, row, entry.line, entry.raw, repaired or entry.repaired)


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
    by_key.add((entry.query_id, entry.doc_id), score, row, entry.line, entry.raw, entry.repaired)
    return entry.rank not in (None, "")


def note_ranks_for_scores(tally: Tally, line: int, rows: int = 1) -> None:
    """Report that a run has no scores (W49)."""
    tally.once("W49", line, "no score", done="minus the rank is used as the score", times=rows)


def _check_ids(entry: Entry, tally: Tally) -> None:
    checked_id(entry.query_id, "query id")
    checked_id(entry.doc_id)
    note_unusual(tally, entry.line, entry.query_id, entry.doc_id)


def _grade(entry: Entry, grades: Grades, tally: Tally) -> tuple[float, bool]:
    text = _text_of_number(entry.value, "grade", "3")
    grade, repaired = any_grade(text) if grades is None else scale_grade(text, grades)
    if repaired:
        tally.once("W32", entry.line, f"the grade is written as {text}", done=f"read as {grade:g}")
    return float(grade), repaired


def _score(entry: Entry, tally: Tally) -> tuple[float, int | None]:
    rank = _rank_of(entry.rank)
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


def _rank_of(value: object) -> int | None:
    if isinstance(value, str):
        return rank_of(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return rank_of(repr(value)) if abs(value) < EXACT_WHOLE else None
    return None


def _reject(entry: Entry, fault: RowFault, tally: Tally, name: str) -> None:
    column = entry.where or (name if fault.code == "E12" else "")
    tally.reject(fault.code, entry.line, str(fault), fix=fault.fix, raw=entry.raw, column=column)
