"""TREC qrels: ``query iteration document grade``.

Reading is as in trec_eval, but more tolerant: any ASCII white space, CRLF, byte order mark, gzip, blank lines and lines
that start with ``#``. Writing uses only single spaces, because strict readers reject anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from assay.core.errors import NotValid, UnreadableInput
from assay.core.ids import id_fault
from assay.core.read_report import Report, Tally
from assay.formats.detection import sniff
from assay.formats.format import Format
from assay.formats.reader import Read, finish, note_skipped, note_unusual, open_as, refuse_early
from assay.formats.text_lines import Content, Source, numbered_lines
from assay.formats.trec_fields import records

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.core.qrels import Qrels
    from assay.formats.grade_cells import Fault, Keyed, Pick
    from assay.formats.row_types import LabelRow
    from assay.formats.trec_columns import Fields
    from assay.formats.writer import Written

NAME = "trec-qrels"
EXAMPLE = "q001 0 doc-abc 3\nq001 0 doc-mno 0\nq002 0 doc-xyz 1\n"
_LINE = "q001 0 doc-abc 3"


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[LabelRow]:
    """Read qrels and account for every line."""
    from assay.formats.column_reader import read_in_columns
    from assay.formats.label_layouts import TrecQrels

    content, tally = _open(source, path, encoding)
    return read_in_columns(content, tally, TrecQrels().of(grades, conflicts), empty="judgments")


def load_qrels(source: Source, path: str = "-") -> Qrels:
    """Return the qrels of a file, strictly: the first invalid line is an error."""
    return load_qrels_report(source, path)[0]


def load_qrels_report(source: Source, path: str = "-", *, hashed: bool = True) -> tuple[Qrels, Report]:
    """Return the qrels of a file as `load_qrels` does, and the report with its hash and warnings."""
    content, tally = _open(source, path, "utf-8", hashed)
    try:
        return _load(content, tally)
    except UnreadableInput as error:
        if error.code != "E16" or sniff(content.head) != "trec-subtopic-qrels":
            raise
        expected = "column 2 looks like a subtopic: read the file with --subtopics, or keep one of the two"
        raise UnreadableInput(path, error.line, error.problem, expected, error.code) from None


def _load(content: Content, tally: Tally) -> tuple[Qrels, Report]:
    from assay.core.qrels import Qrels
    from assay.formats.trec_columns import split_fields

    with content:
        if split_fields(content.head[: content.head.rfind(b"\n") + 1], 4) is None:
            refuse_early(content, tally, parse_lines)
        data = content.data()
    table = _columns(data, tally)
    if table is not None:
        return table, finish(content, tally)
    rows = list(parse_lines(numbered_lines(data), tally))
    report = finish(content, tally)
    report.raise_if_errors()
    if not rows:
        tally.refuse("contains no judgments", code="F07")
    table = Qrels.from_rows((row.query_id, row.doc_id, row.grade or 0.0) for row in rows)
    table.duplicates = report.bins["duplicate"]
    return table, report


def parse_lines(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[LabelRow]:
    """Yield the labels of numbered lines; every line is counted in one bin."""
    from assay.formats.grade_cells import Keyed

    by_key: Keyed[LabelRow] = Keyed(tally)
    for line, text, parts in records(lines, tally):
        add_line(parts, line, text, tally, by_key, None)
    for row in by_key.rows():
        tally.grade(row.grade or 0)
        yield row


def write(
    rows: Iterable[LabelRow], stream: BinaryIO, *, origin: str | None = None, encode_ids: bool = False
) -> Written:
    """Write labels in the order of their ids; a pair without a grade is left out, a judged 0 is written."""
    from assay.formats.writer import Written, graded_order, id_encoder, refuse_ids, whole_grade

    ordered = graded_order(rows)
    encoded = id_encoder((text, text) for text in ordered.ids()) if encode_ids else {}
    if not encode_ids:
        refuse_ids(NAME, ordered.ids())
    for query_id, doc_id, grade, own in ordered.values("query_id", "doc_id", "grade", "origin"):
        digits = whole_grade(grade, query_id, doc_id)
        query, document = encoded.get(query_id, query_id), encoded.get(doc_id, doc_id)
        stream.write(f"{query} {origin or own} {document} {digits}\n".encode())
    return Written(len(ordered), idmap=encoded)


def _open(source: Source, path: str, encoding: str, hashed: bool = True) -> tuple[Content, Tally]:
    content, tally = open_as(source, path, NAME, _LINE, encoding=encoding, hashed=hashed)
    if sniff(content.head) == "trec-run":
        content.close()
        tally.refuse("looks like a TREC run, not like qrels", line=1)
    return content, tally


def add_line(
    parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[LabelRow], grades: tuple[int, ...] | None
) -> None:
    """Add the label of one line if it is valid."""
    # As in trec_run, only lines that are read individually need these.
    from assay.formats.grade_cells import Fault, any_grade, scale_grade
    from assay.formats.row_types import LabelRow

    fault = _row_fault(parts, surplus=grades is None)
    grade = fault or (any_grade(parts[3]) if grades is None else scale_grade(parts[3], grades))
    if isinstance(grade, Fault):
        tally.reject(grade.code, line, grade.what, fix=grade.fix, raw=raw)
        return
    value, repaired = grade
    if repaired:
        tally.once("W32", line, f"the grade is written as {parts[3]}", done=f"read as {value:g}")
    if len(parts) > 4:
        tally.once("W45", line, f"{len(parts)} fields instead of 4", done="the extra fields are ignored")
    note_unusual(tally, line, parts[0], parts[2])
    row = LabelRow(parts[0], parts[2], value, parts[1], line=line)
    by_key.add((parts[0], parts[2]), value, row, line, raw, "repaired" if repaired else "accepted")


def _row_fault(parts: list[str], *, surplus: bool) -> Fault | None:
    from assay.formats.grade_cells import Fault

    if len(parts) < 4 or (len(parts) > 4 and not surplus):
        hint = "; an id cannot contain spaces here" if len(parts) > 4 else ""
        fix = f"expected 4 fields: query, iteration, document, grade, such as {_LINE!r}"
        return Fault("E10", f"{len(parts)} field{'s' * (len(parts) != 1)} instead of 4{hint}", fix)
    for name, text in (("query", parts[0]), ("document", parts[2])):
        if fault := id_fault(text, spaces=False):
            return Fault(fault[0], f"the {name} id {fault[1]}", "correct the id")
    return None


def _columns(data: bytes, tally: Tally) -> Qrels | None:
    """Return the judgments of a well-formed file; None if it needs the careful reader."""
    from assay.core.qrels import Qrels
    from assay.formats.trec_columns import numbers, split_fields

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
    from assay.core.grouping import grouped, repeated

    rows = repeated(grouped(fields.texts(0)).query_of, fields.texts(2))
    if rows is None or grades[rows[0]] == grades[rows[1]]:
        return
    (first, again), (line, other) = map(fields.row, rows), map(fields.line, rows)
    what = f"{first!r} is contradicted by line {other}, {again!r}"
    tally.refuse(what, line=line, expected="keep one of the two", code="E16")


FORMAT = Format(
    name=NAME,
    title="TREC qrels",
    kind="qrels",
    extensions=(".txt", ".qrels"),
    description="One label per line with ids and a whole grade, as trec_eval and similar tools read it.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any number is accepted",
        "conflicts": "first, last, min or max: which of two grades for a pair to use",
        "encoding": "latin-1 for old files",
    },
)
