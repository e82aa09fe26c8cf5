"""Reader and writer of BEIR qrels: three TAB-separated columns with a required header.

BEIR's loader always skips the first line, so a file without a header loses its first judgment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from assay.core.ids import id_fault
from assay.core.read_report import Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Fault, Keyed, Pick, scale_grade
from assay.formats.reader import Read, note_unusual, open_as
from assay.formats.row_types import LabelRow
from assay.formats.text_lines import Source
from assay.formats.writer import Written, graded_order, refuse_ids, whole_grade

NAME = "beir-qrels"
HEADER = "query-id\tcorpus-id\tscore"
EXAMPLE = f"{HEADER}\nq001\tdoc-abc\t3\nq001\tdoc-mno\t0\n"


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[LabelRow]:
    """Read the qrels of a BEIR directory and account for every line."""
    from assay.formats.column_reader import read_in_columns
    from assay.formats.label_layouts import BeirQrels

    content, tally = open_as(source, path, NAME, "q001<TAB>doc-abc<TAB>3", encoding=encoding)
    return read_in_columns(content, tally, BeirQrels().of(grades, conflicts))


def write(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels in the order of their ids, the header first; a pair without a grade is left out."""
    ordered = graded_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    if quoted := sorted({text for text in ordered.ids() if text.startswith('"')}):
        raise NotValid(f"{NAME} cannot contain ids that begin with a quotation mark: {', '.join(quoted[:20])}")
    stream.write(f"{HEADER}\n".encode())
    for query_id, doc_id, grade in ordered.values("query_id", "doc_id", "grade"):
        stream.write(f"{query_id}\t{doc_id}\t{whole_grade(grade, query_id, doc_id)}\n".encode())
    return Written(len(ordered))


def read_header(lines: Iterable[tuple[int, str]], tally: Tally) -> None:
    """Read the header, which is in the first line that is not blank."""
    for line, text in _filled(lines, tally):
        if text.strip().casefold() != HEADER:
            expected = f"expected the header {HEADER!r}; add it"
            tally.refuse(f"the first line is {text[:80]!r}", line=line, expected=expected, code="F04")
        tally.put("header")
        return


def add_lines(
    lines: Iterable[tuple[int, str]], tally: Tally, by_key: Keyed[LabelRow], grades: tuple[int, ...] | None
) -> None:
    """Add the labels of the lines after the header."""
    for line, text in _filled(lines, tally):
        _label(text, line, tally, by_key, grades)


def _filled(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[tuple[int, str]]:
    """Yield the lines with content; blank lines are counted here."""
    for line, text in lines:
        tally.read()
        if text.strip():
            yield line, text
        else:
            tally.put("blank")
            tally.once("W35", line, "a blank line", done="skipped")


def _label(text: str, line: int, tally: Tally, by_key: Keyed[LabelRow], grades: tuple[int, ...] | None) -> None:
    parts = text.split("\t")
    fault = _fault(parts)
    grade = fault or scale_grade(parts[2].strip(), grades)
    if isinstance(grade, Fault):
        tally.reject(grade.code, line, grade.what, fix=grade.fix, raw=text)
        return
    value, repaired = grade
    if repaired:
        tally.once("W32", line, f"the grade is written as {parts[2]}", done=f"read as {value}")
    note_unusual(tally, line, parts[0], parts[1])
    row = LabelRow(parts[0], parts[1], value, "2", line=line)
    by_key.add((parts[0], parts[1]), value, row, line, text, "repaired" if repaired else "accepted")


def _fault(parts: list[str]) -> Fault | None:
    if len(parts) != 3:
        return Fault(
            "E10",
            f"{amount(len(parts), 'column')} instead of 3",
            "expected query, document and grade with TABs between",
        )
    for name, text in (("query", parts[0]), ("document", parts[1])):
        if fault := id_fault(text):
            return Fault(fault[0], f"the {name} id {fault[1]}", "correct the id")
    return None


FORMAT = Format(
    name=NAME,
    title="BEIR qrels, TSV",
    kind="qrels",
    extensions=(".tsv",),
    description="The file qrels/test.tsv of a BEIR directory.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any whole number is accepted",
        "conflicts": "first, last, min or max: which of two grades for a pair to use",
        "encoding": "latin-1 for old files",
    },
)
