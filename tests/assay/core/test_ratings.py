"""Tests of the ratings table: numbering is independent of row order, bad grades are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import Ratings
from assay.core.errors import NotValid
from assay.core.text_column import Texts

ROWS = [("q2", "d1", "r02", 1), ("q1", "d2", "r01", 0), ("q1", "d1", "r01", 3), ("q1", "d1", "r02", 2)]


def test_columns_of_a_small_table():
    ratings = Ratings.from_rows(ROWS)
    assert ratings.units == [("q1", "d1"), ("q1", "d2"), ("q2", "d1")]
    assert (ratings.raters, ratings.query_ids) == (("r01", "r02"), ("q1", "q2"))
    assert ratings.unit.tolist() == [0, 0, 1, 2]
    assert ratings.rater.tolist() == [0, 1, 0, 1]
    assert ratings.grade.tolist() == [3, 2, 0, 1]
    assert ratings.query.tolist() == [0, 0, 1]


def test_order_of_rows_does_not_matter():
    assert Ratings.from_rows(ROWS) == Ratings.from_rows(reversed(ROWS))


def test_identical_rows_are_counted_as_duplicates():
    ratings = Ratings.from_rows([*ROWS, ROWS[0]])
    assert (len(ratings), ratings.duplicates) == (4, 1)


def test_one_rater_cannot_give_two_grades():
    with pytest.raises(NotValid, match="'r01' gave two grades, 3 and 2"):
        Ratings.from_rows([("q1", "d1", "r01", 3), ("q1", "d1", "r01", 2)])


def test_a_grade_is_a_whole_number():
    with pytest.raises(NotValid, match=r"2\.5"):
        Ratings.from_rows([("q1", "d1", "r01", 2.5)])


def test_no_ratings_is_a_table_too():
    ratings = Ratings.from_rows([])
    assert (len(ratings), ratings.units, ratings.query.tolist()) == (0, [], [])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q10", "q2", "é"]),
            st.sampled_from(["d1", "d10", "d2", "d" * 20 + "a", "d" * 20 + "b"]),
            st.sampled_from(["r1", "r10", "b"]),
            st.integers(0, 1),
        ),
        max_size=30,
    ),
    st.booleans(),
)
def test_columns_give_the_same_table_as_rows(rows: list[tuple[str, str, str, int]], ordered: bool) -> None:
    rows = sorted(set(rows)) if ordered else rows
    raters = ["unused", "r10", "b", "r1"]

    def of_columns() -> Ratings:
        return Ratings.from_columns(
            Texts.of([row[0] for row in rows]),
            Texts.of([row[1] for row in rows]),
            raters,
            np.array([raters.index(row[2]) for row in rows], dtype=np.int32),
            np.array([row[3] for row in rows], dtype=np.int64),
        )

    if len({row[:3] for row in rows}) < len(set(rows)):
        for table in (lambda: Ratings.from_rows(rows), of_columns):
            with pytest.raises(NotValid, match="keep one"):
                table()
        return
    expected, actual = Ratings.from_rows(rows), of_columns()
    assert actual == expected
    assert (list(actual.units), actual.raters, actual.query_ids) == (
        expected.units,
        expected.raters,
        expected.query_ids,
    )
    assert actual.query.tolist() == expected.query.tolist()
    assert actual.duplicates == expected.duplicates
