"""Tests of CSV cells: reversible escaping and no executable formulas."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.csv_cells import csv_cell, csv_row, escape, unescape


@given(st.text())
def test_escaping_is_reversible(text: str):
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\tx", "\rx", "＝1", "＋1", "－1", "＠x"])
def test_no_formula_begins_a_cell(text: str):
    assert escape(text) == "'" + text
    assert csv_cell(text) in ("'" + text, f'"\'{text}"')


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=2))
def test_a_row_is_read_back_by_the_csv_module(cells: list[str]):
    assert next(csv.reader(io.StringIO(csv_row(cells), newline=""), strict=True)) == cells
