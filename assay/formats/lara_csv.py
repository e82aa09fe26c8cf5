"""LARA's CSV: a person's label of each pair, and a model's probability of each grade.

One file with two kinds of rows: the column ``annotation`` contains the labels of people, which LARA's scripts copy from
qrels (`src/example-covid-itachi-graded.py`; its README calls them predicted), and the columns ``prob_...`` contain the
answer of a model. Neither is ever read as the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import BinaryIO

from assay.core.csv_cells import escape
from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import amount
from assay.formats.column_names import ColumnMap
from assay.formats.delimited import Cells, Columns, read_table
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, Pick, checked_id, scale_grade, share
from assay.formats.labels_jsonl import MachineLabel
from assay.formats.queries import query_id_fault
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import LabelRow
from assay.formats.text_lines import Content
from assay.formats.writer import Written, whole_grade, write_csv

LABELS, PROBABILITIES = "lara-csv", "lara-probabilities-csv"
JUDGE = "lara"
_EXAMPLE = (
    "topic_id,doc_id,annotation,prob_0,prob_1,prob_2\n"
    "q001,doc-abc,2,0.050000,0.250000,0.700000\n"
    "q001,doc-xyz,,0.900000,0.100000,0.000000\n"
)
_BINARY = "topic_id,doc_id,annotation,prob_yes,prob_no\nq001,doc-abc,,0.900000,0.100000\n"
_COLUMNS = Columns(
    {"topic_id": ("query_id", "qid"), "doc_id": ("docno", "docid"), "annotation": ("grade",)},
    ("topic_id", "doc_id", "annotation"),
    numeric=frozenset({"annotation"}),
    keep_others=True,
)
_PROBABILITY = re.compile(r"prob_(\d+|yes|no)", re.I)
_GRADES = {"yes": 1, "no": 0}
# The probabilities of a pair add up to 1, within the precision of LARA's own files.
_CLOSE = 0.01


@dataclass(frozen=True, slots=True)
class LaraLabel(LabelRow):
    """A person's label with a model's probabilities of the grades, from grade 0."""

    probabilities: tuple[float, ...] = field(default=())


def _read_labels(
    content: Content,
    tally: Tally,
    *,
    columns: ColumnMap = None,
    delimiter: str | None = None,
    conflicts: Pick | None = None,
) -> Iterator[LaraLabel]:
    by_key = Keyed[LaraLabel](tally, conflicts)
    for cells, probabilities in _pairs(content, tally, columns, delimiter):
        text = cells.of["annotation"].strip()
        with tally.rejecting(cells.line, raw=cells.raw, column="annotation"):
            grade, repaired = (None, False) if not text else scale_grade(text, tuple(range(len(probabilities))))
            if repaired:
                tally.once("W32", cells.line, f"the grade is written as {text}", done=f"read as {grade}")
            query_id, doc_id = cells.of["topic_id"], cells.of["doc_id"]
            row = LaraLabel(query_id, doc_id, grade, line=cells.line, probabilities=probabilities)
            by_key.add((query_id, doc_id), grade, row, cells.line, cells.raw, repaired or cells.repaired)
    for label in by_key.rows():
        if label.grade is not None:
            tally.grade(label.grade)
        yield label


def _read_probabilities(
    content: Content,
    tally: Tally,
    *,
    columns: ColumnMap = None,
    delimiter: str | None = None,
    conflicts: Pick | None = None,
) -> Iterator[MachineLabel]:
    by_key = Keyed[MachineLabel](tally, conflicts)
    for cells, probabilities in _pairs(content, tally, columns, delimiter):
        grade = max(range(len(probabilities)), key=lambda one: (probabilities[one], one))
        named = {str(at): value for at, value in enumerate(probabilities)}
        row = MachineLabel(
            cells.of["topic_id"], cells.of["doc_id"], "graded", grade, judge=JUDGE, probabilities=named, line=cells.line
        )
        by_key.add((row.query_id, row.doc_id), probabilities, row, cells.line, cells.raw, cells.repaired)
    for label in by_key.rows():
        tally.grade(label.grade or 0)
        yield label


def _pairs(
    content: Content, tally: Tally, columns: ColumnMap, delimiter: str | None
) -> Iterator[tuple[Cells, tuple[float, ...]]]:
    """Yield the rows with valid ids and probabilities; others are rejected here."""
    places: dict[str, int] | None = None
    for cells in read_table(content, tally, _COLUMNS, mapping=columns, delimiter=delimiter):
        if places is None:
            places = _grades_of(cells, tally)
        with tally.rejecting(cells.line, raw=cells.raw):
            for name, value in (("topic_id", cells.of["topic_id"]), ("doc_id", cells.of["doc_id"])):
                if name == "doc_id":
                    checked_id(value)
                elif fault := query_id_fault(value):
                    raise RowFault(*fault)
            probabilities = _probabilities(cells, places)
            note_unusual(tally, cells.line, cells.of["topic_id"], cells.of["doc_id"])
            yield cells, probabilities


def _grades_of(cells: Cells, tally: Tally) -> dict[str, int]:
    """Return the grade of each column of probabilities."""
    places: dict[str, int] = {}
    for name in cells.others:
        if match := _PROBABILITY.fullmatch(name):
            word = match[1].casefold()
            places[name] = _GRADES[word] if word in _GRADES else int(word)
        else:
            tally.once("W41", 1, f"unknown column {name!r}", done="ignored", column=name)
    if len(places) < 2 or sorted(places.values()) != list(range(len(places))):
        named = ", ".join(cells.others) or "none"
        expected = "expected prob_yes and prob_no, or prob_0, prob_1 and so on"
        tally.refuse(f"the columns of probabilities are incomplete: {named}", line=1, expected=expected, code="F04")
    return places


def _probabilities(cells: Cells, places: Mapping[str, int]) -> tuple[float, ...]:
    values = [0.0] * len(places)
    for name, grade in places.items():
        value = share(cells.others[name], name, most=1.0)
        if value is None:
            raise RowFault("E12", f"{name} is empty", "expected a number such as 0.25")
        values[grade] = value
    if abs(sum(values) - 1) > _CLOSE:
        raise RowFault("E23", f"the probabilities add up to {sum(values):.3g}, not 1", "correct the probabilities")
    return tuple(values)


def _write_labels(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels with the probabilities of a model; pairs without probabilities are left out."""
    return _write([(row, getattr(row, "probabilities", ()), row.grade) for row in rows], stream)


def _write_probabilities(rows: Iterable[MachineLabel], stream: BinaryIO) -> Written:
    """Write the probabilities of a judge, without labels of people; pairs without probabilities are left out."""
    return _write([(row, _in_order(row), None) for row in rows], stream)


def _in_order(row: MachineLabel) -> tuple[float, ...]:
    """Return the probabilities of the grades from 0; empty if they are of other answers."""
    given = row.probabilities or {}
    names = [str(grade) for grade in range(len(given))]
    return tuple(given[name] for name in names) if set(given) == set(names) and len(names) > 1 else ()


def _write(pairs: list[tuple[LabelRow | MachineLabel, tuple[float, ...], float | None]], stream: BinaryIO) -> Written:
    known = sorted((one for one in pairs if one[1]), key=lambda one: (one[0].query_id, one[0].doc_id))
    if pairs and not known:
        fix = f"convert the labels of a judge that gave probabilities to {PROBABILITIES}"
        raise NotValid(f"no pair has a model's probability of each grade, which {LABELS} needs; {fix}")
    widths = {len(one[1]) for one in known}
    if len(widths) > 1:
        raise NotValid(f"{LABELS} needs the same grades for each pair, but there are {sorted(widths)} probabilities")
    for (one, *_), (other, *_) in pairwise(known):
        if (one.query_id, one.doc_id) == (other.query_id, other.doc_id):
            raise NotValid(f"{LABELS} has one row for each pair, but {one.query_id!r} {one.doc_id!r} has several")
    width = max(widths, default=2)
    names = ["prob_yes", "prob_no"] if width == 2 else [f"prob_{grade}" for grade in range(width)]

    def cells(one: tuple[LabelRow | MachineLabel, tuple[float, ...], float | None]) -> list[str]:
        row, values, grade = one
        digits = "" if grade is None else whole_grade(grade, row.query_id, row.doc_id)
        ordered = values[::-1] if width == 2 else values
        return [escape(row.query_id), escape(row.doc_id), digits, *(f"{value:.6f}" for value in ordered)]

    written = write_csv(stream, ["topic_id", "doc_id", "annotation", *names], known, cells, "document {0[0].doc_id!r}")
    notes = []
    if left := len(pairs) - len(known):
        notes.append(f"{amount(left, 'pair')} without probabilities left out")
    if any(text.isdigit() and text[0] == "0" for one in known for text in (one[0].query_id, one[0].doc_id)):
        notes.append("some ids are numbers with leading zeros, which data frames drop; read them as text")
    return Written(written.rows, tuple(notes))


LABELS_FORMAT = Format(
    name=LABELS,
    title="LARA annotations, CSV",
    tool="LARA",
    kind="qrels",
    description="The labels of people in a file of LARA, with a model's probabilities; an empty cell means unjudged.",
    read=reader(LABELS, _EXAMPLE.partition("\n")[0], _read_labels),
    write=_write_labels,
    example=_EXAMPLE,
)
PROBABILITIES_FORMAT = Format(
    name=PROBABILITIES,
    title="LARA probabilities, CSV",
    tool="LARA",
    kind="labels",
    description="A model's probabilities of the grades in a file of LARA, as machine labels with the likeliest grade.",
    read=reader(PROBABILITIES, _BINARY.partition("\n")[0], _read_probabilities),
    write=_write_probabilities,
    example=_BINARY,
)
