"""Tests of ratings in XLSX workbooks: sheets, types of cells, formulas, damaged and oversized files."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

import openpyxl
import pytest

from assay.core.errors import BeyondLimits, NotValid, UnreadableInput
from assay.formats import FORMATS, sniff, text_lines
from assay.formats.row_types import RatingRow

FORMAT = FORMATS["ratings-xlsx"]
HEADER = ("query_id", "query_text", "doc_id", "grade", "rater_id", "notes")
ROW = RatingRow("q1", "d1", "r1", 3, query="running shoes", note="fits")


def book(*sheets: tuple[str, Iterable[Iterable[Any]]], hidden: str = "") -> bytes:
    made, stream = openpyxl.Workbook(), io.BytesIO()
    made.remove(made.active)
    for name, rows in sheets:
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        if name == hidden:
            sheet.sheet_state = "hidden"
    made.save(stream)
    return stream.getvalue()


def read(data: bytes, **options: Any) -> Any:
    return FORMAT.read(data, path="a.xlsx", **options)


def written(*rows: RatingRow) -> bytes:
    stream = io.BytesIO()
    assert FORMAT.write is not None
    FORMAT.write(rows, stream)
    return stream.getvalue()


def parts(data: bytes, **changed: bytes) -> bytes:
    """The workbook with some of its parts replaced or added; a dot stands for / in their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        contents = {name: old.read(name) for name in old.namelist()}
        for name, content in (contents | {name.replace("__", "/"): text for name, text in changed.items()}).items():
            new.writestr(name, content)
    return stream.getvalue()


def test_written_sheet_has_the_columns_and_the_types():
    sheet = openpyxl.load_workbook(io.BytesIO(written(ROW))).active
    assert [[cell.value for cell in row] for row in sheet.rows] == [
        list(HEADER),
        ["q1", "running shoes", "d1", 3, "r1", "fits"],
    ]
    assert [cell.data_type for cell in sheet[2]] == ["s", "s", "s", "n", "s", "s"]


def test_same_rows_give_the_same_bytes_without_times():
    data = written(ROW, replace(ROW, doc_id="d0"))
    assert data == written(replace(ROW, doc_id="d0"), ROW) == written(*read(data).rows)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
        assert b"dcterms" not in archive.read("docProps/core.xml")


def test_nothing_of_a_rating_is_lost():
    rows = [
        RatingRow("q1", "1", "r1", None, "unrateable", 'a, "b"\nc', "import", "2", "2026-03-02T09:14:07Z", 61, " x "),
        RatingRow("q1", "2", "r1", 0, query='a, "b"\nc', note="#N/A"),
        RatingRow("q2", "2", "r1", 1, query="=1+1", note="@a"),
        RatingRow("q3", "2", "r1", 1, query="'=1+1", note="it's a _x000D_ 🙂"),
    ]
    assert read(written(*rows)).rows == rows


@pytest.mark.parametrize("text", ["=SUM(A1)", "+1", "-1", "@name", "'=x", "\tx"])
def test_texts_that_look_like_formulas_are_escaped(text: str):
    data = written(replace(ROW, note=text))
    cell = openpyxl.load_workbook(io.BytesIO(data)).active["F2"]
    assert (cell.value, cell.data_type) == (f"'{text}", "s")
    result = read(data)
    assert (result.rows[0].note, set(result.report.codes), result.report.bins["repaired"]) == (text, {"W37"}, 1)
    assert read(data, escaped=False).rows[0].note == f"'{text}"


def test_formula_is_refused_with_its_cell():
    data = book(("Shoes", [HEADER, ("q1", "shoes", "d1", "=1+2", "r1", ""), ("q1", "shoes", "d2", 2, "r1", "")]))
    result = read(data)
    problem = result.report.errors[0]
    assert (problem.code, problem.line, problem.column) == ("E28", 2, "grade")
    assert "Shoes!D2" in problem.what
    assert [row.doc_id for row in result.rows] == ["d2"]


def test_first_visible_sheet_with_the_columns_is_read():
    other = [("grade", "label"), (3, "perfect")]
    good = [HEADER, ("q1", "shoes", "d1", 3, "r1", "")]
    data = book(("Scale", other), ("Old", good), ("New", [*good, ("q1", "shoes", "d2", 1, "r1", "")]), hidden="Old")
    result = read(data)
    assert (len(result.rows), result.report.codes) == (2, {"W69": 2})
    assert len(read(data, sheet="Old").rows) == 1
    with pytest.raises(UnreadableInput) as caught:
        read(data, sheet="Lost")
    assert (caught.value.code, "'Scale', 'Old', 'New'" in str(caught.value)) == ("F04", True)


def test_columns_may_have_other_names_and_gaps():
    rows = [(), ("Docno", None, "Stars", "query"), (), ("d1", "x", 3, "shoes"), ("d2", None, 1, "shoes"), ("d3",)]
    result = read(book(("A", rows)), columns={"grade": "Stars"})
    assert [(row.query_id, row.doc_id, row.grade, row.line) for row in result.rows[:2]] == [
        ("q001", "d1", 3, 4),
        ("q001", "d2", 1, 5),
    ]
    assert set(result.report.codes) == {"W35", "W41", "W47", "W48", "E11"}


@pytest.mark.parametrize(
    ("cell", "column", "code"),
    [
        (7, "doc_id", "W42"),
        (7.5, "doc_id", "E23"),
        (datetime(2026, 3, 2), "doc_id", "E23"),
        (True, "grade", "E23"),
        ("#N/A", "grade", "E23"),
        (2.5, "grade", "E13"),
        ("2", "grade", None),
        (2.0, "grade", None),
        (9, "grade", "E14"),
        ("x", "grade", "E12"),
    ],
)
def test_types_of_cells(cell: object, column: str, code: str | None):
    values = {"query_id": "q1", "doc_id": "d1", "grade": 2, "rater_id": "r1"} | {column: cell}
    report = read(book(("A", [values, values.values()])), grades=(0, 1, 2, 3)).report
    assert set(report.codes) == ({code} if code else set())


def test_missing_columns_are_named():
    with pytest.raises(UnreadableInput) as caught:
        read(book(("A", [("query_id", "grade"), ("q1", 1)])))
    assert caught.value.code == "F04"


def test_other_formats_refuse_a_workbook():
    data = written(ROW)
    assert (sniff(data), sniff(data, "ratings"), sniff(data, "qrels")) == ("ratings-xlsx", "ratings-xlsx", None)
    with pytest.raises(UnreadableInput) as caught:
        FORMATS["ratings-csv"].read(data, path="a.xlsx")
    assert caught.value.code == "F03"
    with pytest.raises(UnreadableInput) as caught:
        read(b"query_id,doc_id,grade\n")
    assert caught.value.code == "F03"


def test_workbook_that_expands_too_far_is_refused(monkeypatch: pytest.MonkeyPatch):
    bomb = parts(written(ROW), xl__media__image1=b"\0" * (120 << 20))
    with pytest.raises(UnreadableInput) as caught:
        read(bomb)
    assert caught.value.code == "F02"
    monkeypatch.setattr(text_lines, "CEILING", text_lines.Ceiling(1 << 10, 10**6))
    with pytest.raises(BeyondLimits):
        read(written(ROW))


def test_workbook_with_too_many_rows_is_left_to_a_job(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_lines, "CEILING", text_lines.Ceiling(1 << 30, 2))
    with pytest.raises(BeyondLimits):
        read(written(ROW, replace(ROW, doc_id="d2")))


def test_document_types_are_refused():
    entities = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    with pytest.raises(UnreadableInput) as caught:
        read(parts(written(ROW), **{"xl__worksheets__sheet1.xml": entities}))
    assert caught.value.code == "F02"


def test_a_cell_far_to_the_right_does_not_widen_all_rows():
    made, stream = openpyxl.Workbook(), io.BytesIO()
    made.active.append(HEADER)
    made.active["XFD2"] = "far"
    for row in range(3, 3_000):
        made.active.cell(row, 1, "q1")
        made.active.cell(row, 3, f"d{row}")
        made.active.cell(row, 4, 1)
        made.active.cell(row, 5, "r1")
    made.save(stream)
    result = read(stream.getvalue())
    assert (len(result.rows), result.report.bins["blank"]) == (2_997, 1)


def test_damaged_workbooks_are_refused_or_read():
    data, draw = written(ROW, replace(ROW, doc_id="d2")), random.Random(5)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        contents = {name: archive.read(name) for name in names}
    outcomes = set()
    for turn in range(150):
        if turn % 2:
            name = draw.choice(names)
            text = bytearray(contents[name])
            text[draw.randrange(len(text))] = draw.randrange(256)
            changed = parts(data, **{name: bytes(text)})
        else:
            raw = bytearray(data)
            raw[draw.randrange(len(raw))] = draw.randrange(256)
            changed = bytes(raw)
        try:
            report = read(changed).report
            assert sum(report.bins.values()) == report.units
            outcomes.add("read")
        except UnreadableInput as refusal:
            outcomes.add(refusal.code)
    assert {"read", "F02"} <= outcomes


@pytest.mark.parametrize("note", ["x" * 32_768, "a\x07b", "a\rb"])
def test_texts_that_a_cell_cannot_contain_are_refused(note: str):
    with pytest.raises(NotValid):
        written(replace(ROW, note=note))
