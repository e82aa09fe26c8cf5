"""TREC qrels with subtopics: ``query subtopic document grade``.

These are the qrels of the TREC Web Track's diversity task. They look like plain qrels, but a document may appear once
for each subtopic, which column 2 names, so they are a separate format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from assay.core.ids import id_fault
from assay.core.read_report import Report, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Fault, Keyed, Pick, any_grade, scale_grade
from assay.formats.reader import Read, finish, note_unusual, open_as, refuse_early
from assay.formats.row_types import SubtopicRow
from assay.formats.text_lines import Source, numbered_lines
from assay.formats.trec_fields import records
from assay.formats.writer import Written, id_encoder, refuse_ids, whole_grade

if TYPE_CHECKING:
    from assay.core.qrels import Qrels

NAME = "trec-subtopic-qrels"
EXAMPLE = "q001 1 doc-abc 2\nq001 1 doc-mno 1\nq001 2 doc-abc 1\nq001 2 doc-mno 0\nq002 1 doc-xyz 1\n"
_LINE = "q001 1 doc-abc 2"


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[SubtopicRow]:
    """Read subtopic qrels and account for every line."""
    from assay.formats.column_reader import read_in_columns
    from assay.formats.label_layouts import TrecSubtopicQrels

    content, tally = open_as(source, path, NAME, _LINE, encoding=encoding)
    return read_in_columns(content, tally, TrecSubtopicQrels().of(grades, conflicts), empty="judgments")


def load_subtopic_qrels(source: Source, path: str = "-") -> tuple[Qrels, Report]:
    """Return the qrels of a file with their subtopics, strictly, and the report with its hash and warnings."""
    from assay.core.qrels import Qrels

    content, tally = open_as(source, path, NAME, _LINE)
    with content:
        refuse_early(content, tally, parse_lines)
        rows = list(parse_lines(numbered_lines(content.data()), tally))
    report = finish(content, tally)
    report.raise_if_errors()
    if not rows:
        tally.refuse("contains no judgments", code="F07")
    table = Qrels.from_subtopics((row.query_id, row.subtopic, row.doc_id, row.grade) for row in rows)
    table.duplicates = report.bins["duplicate"]
    return table, report


def parse_lines(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[SubtopicRow]:
    """Yield the labels of numbered lines; every line is counted in one bin."""
    by_key: Keyed[SubtopicRow] = Keyed(tally)
    for line, raw, parts in records(lines, tally):
        add_line(parts, line, raw, tally, by_key, None)
    for row in by_key.rows():
        tally.grade(row.grade)
        yield row


def add_line(
    parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[SubtopicRow], grades: tuple[int, ...] | None
) -> None:
    """Add the label of one line if it is valid."""
    grade = _row_fault(parts) or (any_grade(parts[3]) if grades is None else scale_grade(parts[3], grades))
    if isinstance(grade, Fault):
        tally.reject(grade.code, line, grade.what, fix=grade.fix, raw=raw)
        return
    value, repaired = grade
    if repaired:
        tally.once("W32", line, f"the grade is written as {parts[3]}", done=f"read as {value:g}")
    note_unusual(tally, line, *parts[:3])
    row = SubtopicRow(parts[0], parts[1], parts[2], value, line=line)
    by_key.add(tuple(parts[:3]), value, row, line, raw, "repaired" if repaired else "accepted")


def write(rows: Iterable[SubtopicRow], stream: BinaryIO, *, encode_ids: bool = False) -> Written:
    """Write labels by query, subtopic and document."""
    ordered = sorted(rows, key=lambda row: (row.query_id, row.subtopic, row.doc_id))
    identifiers = [text for row in ordered for text in (row.query_id, row.subtopic, row.doc_id)]
    encoded = id_encoder((text, text) for text in identifiers) if encode_ids else {}
    if not encode_ids:
        refuse_ids(NAME, identifiers)
    for row in ordered:
        texts = " ".join(encoded.get(text, text) for text in (row.query_id, row.subtopic, row.doc_id))
        stream.write(f"{texts} {whole_grade(row.grade, row.query_id, row.doc_id)}\n".encode())
    return Written(len(ordered), idmap=encoded)


def _row_fault(parts: list[str]) -> Fault | None:
    if len(parts) != 4:
        hint = "; an id cannot contain spaces here" if len(parts) > 4 else ""
        fix = f"expected 4 fields: query, subtopic, document, grade, such as {_LINE!r}"
        return Fault("E10", f"{len(parts)} field{'s' * (len(parts) != 1)} instead of 4{hint}", fix)
    for name, text in zip(("query id", "subtopic", "document id"), parts, strict=False):
        if fault := id_fault(text, spaces=False):
            return Fault(fault[0], f"the {name} {fault[1]}", "correct the id")
    return None


FORMAT = Format(
    name=NAME,
    title="TREC qrels by subtopic",
    kind="subtopic-qrels",
    extensions=(".txt", ".qrels"),
    description="One label per line and aspect of a query, as in TREC's diversity tasks; column 2 is the subtopic.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any number is accepted",
        "conflicts": "first, last, min or max: which of two grades of a document for a subtopic to use",
        "encoding": "latin-1 for old files",
    },
)
