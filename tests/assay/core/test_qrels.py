"""Tests of the qrels table: order, duplicate rows, conflicting grades, input from other tools."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import Qrels
from assay.core.errors import NotValid

IDS = st.text(min_size=1, max_size=4)
JUDGED = st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-2, 3), min_size=1, max_size=5), max_size=5)


def test_columns_of_a_small_table():
    qrels = Qrels.from_rows([("q2", "d1", 1), ("q1", "d2", 0.5), ("q1", "d1", -1)])
    assert qrels.query_ids == ("q1", "q2")
    assert qrels.offsets.tolist() == [0, 2, 3]
    assert qrels.doc_ids == ["d2", "d1", "d1"]
    assert qrels.grades.tolist() == [0.5, -1.0, 1.0]
    assert (qrels.offsets.dtype, qrels.grades.dtype) == (np.int64, np.float64)
    assert (len(qrels), qrels.queries, qrels.duplicates) == (3, 2, 0)


def test_identical_rows_are_counted_as_duplicates():
    qrels = Qrels.from_rows([("q1", "d1", 1), ("q1", "d1", 1.0)])
    assert (len(qrels), qrels.duplicates) == (1, 1)


def test_two_grades_for_one_pair_are_refused():
    with pytest.raises(NotValid, match=r"'q1'.*'d1'.*1 and 2"):
        Qrels.from_rows([("q1", "d1", 1), ("q1", "d1", 2)])


@pytest.mark.parametrize("grade", [float("nan"), float("inf")])
def test_a_grade_is_a_finite_number(grade: float):
    with pytest.raises(NotValid):
        Qrels.from_rows([("q1", "d1", grade)])


def test_no_judgments_is_a_table_too():
    qrels = Qrels.from_rows([])
    assert (len(qrels), qrels.queries, qrels.offsets.tolist(), qrels.to_dict()) == (0, 0, [0], {})


@given(JUDGED)
def test_order_is_that_of_utf8_bytes(judged: dict[str, dict[str, int]]):
    qrels = Qrels.from_dict(judged)
    assert list(qrels.query_ids) == sorted(judged, key=lambda text: text.encode("utf-8", "surrogatepass"))
    assert qrels.to_dict() == judged


@given(JUDGED, st.randoms())
def test_order_of_rows_does_not_matter(judged: dict[str, dict[str, int]], random):
    rows = [(query, doc, grade) for query, docs in judged.items() for doc, grade in docs.items()]
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert Qrels.from_rows(rows) == Qrels.from_rows(shuffled)


@pytest.mark.parametrize("given", [{1: {"d1": 1.0}}, {"q1": {1: 1.0}}, {"q1": {"d1": "two"}}, {"q1": {"d1": [1.0]}}])
def test_invalid_values_of_other_tools_are_refused(given):
    with pytest.raises(NotValid, match="ids must be strings and grades must be numbers"):
        Qrels.from_dict(given)
