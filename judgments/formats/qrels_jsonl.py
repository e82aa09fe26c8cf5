"""Qrels as JSONL, one pair per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from judgments.core.report import Tally
from judgments.formats.column_names import LABEL_COLUMNS
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source
from judgments.formats.entries import labels
from judgments.formats.grades import Pick
from judgments.formats.json_lines import dump
from judgments.formats.object_rows import line_columns, line_entries
from judgments.formats.reading import Read, collect, open_as
from judgments.formats.rows import LabelRow
from judgments.formats.writing import Written, graded_order, refuse_ids, whole_grade

NAME = "qrels-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "doc_id": "doc-abc", "grade": 3}\n{"query_id": "q001", "doc_id": "doc-mno", "grade": 0}\n'
)


def read(
    source: Source,
    *,
    path: str = "-",
    grades: tuple[int, ...] | None = None,
    conflicts: Pick | None = None,
    encoding: str = "utf-8",
) -> Read[LabelRow]:
    """Read qrels and account for every line.

    Parameters
    ----------
    source, path, grades, conflicts, encoding
        As for ``qrels-json``.

    Raises
    ------
    UnreadableInput
        When the whole file is refused.
    """

    def parse(content: Content, tally: Tally) -> Iterator[LabelRow]:
        return labels(line_entries(content, tally, LABEL_COLUMNS, "grade"), tally, grades, conflicts)

    return collect(
        *open_as(source, path, NAME, EXAMPLE.partition("\n")[0], encoding=encoding), parse, empty="judgments"
    )


def write(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels in the order of their ids; a pair without a grade is left out.

    Raises
    ------
    NotValid
        When an id cannot be written, or a grade is no whole number.
    """
    ordered = graded_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=True)
    for query_id, doc_id, grade in ordered.values("query_id", "doc_id", "grade"):
        whole = int(whole_grade(grade, query_id, doc_id))
        stream.write(dump({"query_id": query_id, "doc_id": doc_id, "grade": whole}))
    return Written(len(ordered))


FORMAT = Format(
    name=NAME,
    title="Qrels, JSONL",
    kind="qrels",
    extensions=(".jsonl", ".ndjson"),
    description="One label a line as a JSON object.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "the scale; without it any number is a grade",
        "conflicts": "first, last, min or max: which of two grades for one pair counts",
        "encoding": "latin-1 for old files",
    },
    quick=partial(line_columns, known=LABEL_COLUMNS, value="grade"),
)
