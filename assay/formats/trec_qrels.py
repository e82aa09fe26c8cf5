"""TREC qrels: ``query iteration document grade``, and by subtopic: ``query subtopic document grade``.

Reading is as in trec_eval, but more tolerant: any ASCII white space, CRLF, byte order mark, gzip, blank lines and lines
that start with ``#``. Writing uses only single spaces, because strict readers reject anything else.

Qrels by subtopic are those of the TREC Web Track's diversity task. They look like plain qrels, but a document may
appear once for each subtopic, which column 2 names, so they are a separate format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid, UnreadableInput
from assay.core.qrels import Qrels
from assay.core.read_report import Report, RowFault, Tally
from assay.core.text_column import Texts, grouped, repeated
from assay.formats.column_reader import (
    Flags,
    Layout,
    Plain,
    TrecLayout,
    Warned,
    count_grades,
    plain_ids,
    rows_in_columns,
)
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick, any_grade, checked_id, scale_grade
from assay.formats.reader import finish, note_skipped, note_unusual, open_as, reader, refuse_early, sniff
from assay.formats.row_columns import Coded, Column
from assay.formats.row_types import LabelRow, SubtopicRow
from assay.formats.text_lines import Content, Source, numbered_lines
from assay.formats.trec_lines import Fields, numbers, numbers_or_nan, records, split_fields

if TYPE_CHECKING:
    from assay.formats.writer import Written

Row = TypeVar("Row")

EXAMPLE = "q001 0 doc-abc 3\nq001 0 doc-mno 0\nq002 0 doc-xyz 1\n"
NAME, SUBTOPIC_NAME = "trec-qrels", "trec-subtopic-qrels"
_LINE, _SUBTOPIC_LINE = "q001 0 doc-abc 3", "q001 1 doc-abc 2"


class LabelLayout(Layout[Row]):
    """Options of all label files: the scale, and which of two grades to use."""

    grades: Grades = None
    conflicts: Pick | None = None
    # Whether a grade must be a whole number if no scale is given.
    whole = False

    def of(self, grades: Grades, conflicts: Pick | None) -> Self:
        """Set the options."""
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
        coded = Coded.of(texts).mapped(self._grade)
        good = ~coded.where(lambda grade: grade is None)
        repaired = coded.where(lambda grade: grade is not None and grade[1])
        return coded.mapped(lambda grade: grade and self.kind(grade[0])), good, repaired

    def _grade(self, text: str) -> tuple[int, bool] | None:
        try:
            return scale_grade(text.strip(), self.grades)
        except RowFault:
            return None

    def labeled(self, fields: Fields, places: Mapping[str, int], **others: Column) -> Plain:
        """Return the columns at these places: the keys and the grade."""
        grades, good, repaired = self.graded(fields.texts(places["grade"]))
        ids = {name: fields.texts(places[name]) for name in self.keys}
        for texts in ids.values():
            good &= plain_ids(texts)
        return Plain({**ids, "grade": grades, **others}, good, repaired, [Warned("W32", repaired)])

    # Type of a grade on a scale in a row.
    kind: Callable[[int], float] = staticmethod(int)


class _TrecLabels(TrecLayout[Row], LabelLayout[Row]):
    """Lines of four fields, of which column 2 is the iteration or a subtopic."""

    width = 4
    subtopics = False

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[Any]) -> None:
        names = ("query id", "subtopic", "document id") if self.subtopics else ("query id", "", "document id")
        with tally.rejecting(line, raw=raw):
            if len(parts) < 4 or (len(parts) > 4 and (self.subtopics or self.grades is not None)):
                raise RowFault(*_wrong_width(len(parts), self.subtopics))
            ids = tuple(checked_id(text, name, spaces=False) for text, name in zip(parts, names, strict=False) if name)
            value, repaired = any_grade(parts[3]) if self.grades is None else scale_grade(parts[3], self.grades)
            if repaired:
                tally.once("W32", line, f"the grade is written as {parts[3]}", done=f"read as {value:g}")
            if len(parts) > 4:
                tally.once("W45", line, f"{len(parts)} fields instead of 4", done="the extra fields are ignored")
            note_unusual(tally, line, *ids)
            row: LabelRow | SubtopicRow = LabelRow(ids[0], ids[-1], value, parts[1], line=line)
            if self.subtopics:
                row = SubtopicRow(parts[0], parts[1], parts[2], value, line)
            by_key.add(ids, value, row, line, raw, repaired)


def _wrong_width(width: int, subtopics: bool) -> tuple[str, str, str]:
    hint = "; an id cannot contain spaces here" if width > 4 else ""
    second, example = ("subtopic", _SUBTOPIC_LINE) if subtopics else ("iteration", _LINE)
    fix = f"expected 4 fields: query, {second}, document, grade, such as {example!r}"
    return "E10", f"{width} field{'s' * (width != 1)} instead of 4{hint}", fix


class TrecQrels(_TrecLabels[LabelRow]):
    """Lines with query, iteration, document and grade."""

    row = LabelRow
    keys = ("query_id", "doc_id")

    def plain(self, fields: Fields) -> Plain:
        places = {"query_id": 0, "doc_id": 2, "grade": 3}
        plain = self.labeled(fields, places, origin=Coded.of(fields.texts(1)))
        wide = np.zeros(fields.rows, dtype=np.bool_)
        wide[fields.wider(4)] = True
        good = plain.good if self.grades is None else plain.good & ~wide
        return replace(plain, good=good, warned=[*plain.warned, Warned("W45", wide)])


class TrecSubtopicQrels(_TrecLabels[SubtopicRow]):
    """Lines of query, subtopic, document and grade."""

    row = SubtopicRow
    keys = ("query_id", "subtopic", "doc_id")
    subtopics = True

    def plain(self, fields: Fields) -> Plain:
        plain = self.labeled(fields, {"query_id": 0, "subtopic": 1, "doc_id": 2, "grade": 3})
        plain.good[fields.wider(4)] = False
        return plain


def _read(
    content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
) -> Sequence[LabelRow]:
    _refuse_run(content, tally)
    return rows_in_columns(content, tally, TrecQrels().of(grades, conflicts))


def _read_subtopics(
    content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
) -> Sequence[SubtopicRow]:
    return rows_in_columns(content, tally, TrecSubtopicQrels().of(grades, conflicts))


def _refuse_run(content: Content, tally: Tally) -> None:
    if sniff(content.head) == "trec-run":
        tally.refuse("looks like a TREC run, not like qrels", line=1)


def load_qrels(source: Source, path: str = "-") -> Qrels:
    """Return the qrels of a file, strictly: the first invalid line is an error."""
    return load_qrels_report(source, path)[0]


def load_qrels_report(source: Source, path: str = "-", *, hashed: bool = True) -> tuple[Qrels, Report]:
    """Return the qrels of a file as `load_qrels` does, and the report with its hash and warnings."""
    content, tally = open_as(source, path, NAME, _LINE, hashed=hashed)
    try:
        return _load(content, tally)
    except UnreadableInput as error:
        if error.code != "E16" or sniff(content.head) != "trec-subtopic-qrels":
            raise
        expected = "column 2 looks like a subtopic: read the file with --subtopics, or keep one of the two"
        raise UnreadableInput(path, error.line, error.problem, expected, error.code) from None


def _load(content: Content, tally: Tally) -> tuple[Qrels, Report]:
    with content:
        _refuse_run(content, tally)
        if split_fields(content.head[: content.head.rfind(b"\n") + 1], 4) is None:
            refuse_early(content, tally, _label_lines)
        data = content.data()
    table = _columns(data, tally)
    if table is not None:
        return table, finish(content, tally)
    rows = list(_label_lines(numbered_lines(data), tally))
    report = finish(content, tally)
    report.raise_if_errors()
    if not rows:
        tally.refuse("contains no judgments", code="F07")
    table = Qrels.from_rows((row.query_id, row.doc_id, row.grade or 0.0) for row in rows)
    table.duplicates = report.bins["duplicate"]
    return table, report


def load_subtopic_qrels(source: Source, path: str = "-") -> tuple[Qrels, Report]:
    """Return the qrels of a file with their subtopics, strictly, and the report with its hash and warnings."""
    content, tally = open_as(source, path, SUBTOPIC_NAME, _SUBTOPIC_LINE)
    parse = partial(_label_lines, subtopics=True)
    with content:
        refuse_early(content, tally, parse)
        rows = list(parse(numbered_lines(content.data()), tally))
    report = finish(content, tally)
    report.raise_if_errors()
    if not rows:
        tally.refuse("contains no judgments", code="F07")
    table = Qrels.from_subtopics((row.query_id, row.subtopic, row.doc_id, row.grade) for row in rows)
    table.duplicates = report.bins["duplicate"]
    return table, report


def _label_lines(lines: Iterable[tuple[int, str]], tally: Tally, *, subtopics: bool = False) -> Iterator[Any]:
    """Yield the labels of numbered lines; every line is counted in one bin."""
    layout = TrecSubtopicQrels() if subtopics else TrecQrels()
    by_key: Keyed[Any] = layout.keyed(tally)
    for line, text, parts in records(lines, tally):
        layout.add(parts, line, text, tally, by_key)
    for row in by_key.rows():
        tally.grade(row.grade or 0)
        yield row


def write(
    rows: Iterable[LabelRow], stream: BinaryIO, *, origin: str | None = None, encode_ids: bool = False
) -> Written:
    """Write labels in the order of their ids; a pair without a grade is left out, a judged 0 is written."""
    from assay.formats.writer import WholeGrades, Written, graded_order, write_lines, written_ids

    ordered = graded_order(rows)
    encoded = written_ids(NAME, ordered.ids(), encode_ids)
    digits, plain = WholeGrades().of, ordered.values("query_id", "doc_id", "grade", "origin")
    write_lines(
        stream,
        (
            f"{encoded.get(query, query)} {origin or own} {encoded.get(document, document)} "
            f"{digits(grade, query, document)}\n"
            for query, document, grade, own in plain
        ),
    )
    return Written(len(ordered), idmap=encoded)


def _write_subtopics(rows: Iterable[SubtopicRow], stream: BinaryIO, *, encode_ids: bool = False) -> Written:
    """Write labels by query, subtopic and document."""
    from assay.formats.writer import Written, whole_grade, written_ids

    ordered = sorted(rows, key=lambda row: (row.query_id, row.subtopic, row.doc_id))
    identifiers = [text for row in ordered for text in (row.query_id, row.subtopic, row.doc_id)]
    encoded = written_ids(SUBTOPIC_NAME, identifiers, encode_ids)
    for row in ordered:
        texts = " ".join(encoded.get(text, text) for text in (row.query_id, row.subtopic, row.doc_id))
        stream.write(f"{texts} {whole_grade(row.grade, row.query_id, row.doc_id)}\n".encode())
    return Written(len(ordered), idmap=encoded)


def _columns(data: bytes, tally: Tally) -> Qrels | None:
    """Return the judgments of a well-formed file; None if it needs the careful reader."""
    fields = split_fields(data, 4)
    grades = None if fields is None or len(fields.wider(4)) else numbers(fields.texts(3))
    if fields is None or grades is None:
        return None
    if not fields.rows:
        tally.refuse("contains no judgments", code="F07")
    try:
        table = Qrels.from_columns(fields.texts(0), fields.texts(2), grades)
    except NotValid:
        _refuse_conflict(fields, grades, tally)
        return None
    tally.read(fields.rows + len(fields.comments) + len(fields.blanks))
    tally.put("accepted", fields.rows)
    note_skipped(tally, 0, fields.comments, fields.blanks)
    return table


def _refuse_conflict(fields: Fields, grades: npt.NDArray[np.float64], tally: Tally) -> None:
    """Report both lines of the first repeated pair, unless they have the same grade."""
    rows = repeated(grouped(fields.texts(0)).query_of, fields.texts(2))
    if rows is None or grades[rows[0]] == grades[rows[1]]:
        return
    (first, again), (line, other) = map(fields.row, rows), map(fields.line, rows)
    what = f"{first!r} contradicts line {other}, {again!r}"
    tally.refuse(what, line=line, expected="keep one of the two", code="E16")


read = reader(NAME, _LINE, _read, empty="judgments")

FORMAT = Format(
    name=NAME,
    title="TREC qrels",
    tool="TREC",
    kind="qrels",
    extensions=(".txt", ".qrels"),
    description="One label per line with ids and a whole grade, as trec_eval and similar tools read it.",
    read=read,
    write=write,
    example=EXAMPLE,
)
SUBTOPIC_FORMAT = Format(
    name=SUBTOPIC_NAME,
    title="TREC qrels by subtopic",
    tool="TREC",
    kind="subtopic-qrels",
    extensions=(".txt", ".qrels"),
    description="One label per line and aspect of a query, as in TREC's diversity tasks; column 2 is the subtopic.",
    read=reader(SUBTOPIC_NAME, _SUBTOPIC_LINE, _read_subtopics, empty="judgments"),
    write=_write_subtopics,
    example="q001 1 doc-abc 2\nq001 1 doc-mno 1\nq001 2 doc-abc 1\nq001 2 doc-mno 0\nq002 1 doc-xyz 1\n",
    options={"conflicts": "first, last, min or max: which of two grades of a document for a subtopic to use"},
)
