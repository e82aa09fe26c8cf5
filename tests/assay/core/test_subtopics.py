"""Tests of qrels with subtopics: rows by subtopic, and each document's highest grade as its grade."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core import Qrels
from assay.core.errors import NotValid

ROWS = [("q2", "b", "d1", 1), ("q1", "1", "d1", 0), ("q1", "2", "d1", 2), ("q1", "1", "é", -1), ("q1", "1", "d1", 0)]


def test_a_document_has_the_largest_grade_of_its_subtopics() -> None:
    qrels = Qrels.from_subtopics(ROWS)
    assert qrels.to_dict() == {"q1": {"é": -1.0, "d1": 2.0}, "q2": {"d1": 1.0}}
    assert (qrels.duplicates, qrels.queries, len(qrels)) == (1, 2, 3)


def test_two_grades_for_one_document_and_subtopic_are_refused() -> None:
    with pytest.raises(NotValid, match="query 'q1', subtopic '1', document 'd1' has two grades, 0 and 1; keep one"):
        Qrels.from_subtopics([("q1", "1", "d1", 0), ("q1", "2", "d1", 1), ("q1", "1", "d1", 1)])


def test_a_grade_is_a_finite_number() -> None:
    with pytest.raises(NotValid, match="not a finite number"):
        Qrels.from_subtopics([("q1", "1", "d1", float("inf"))])


def test_labels_without_subtopics_tell_none() -> None:
    qrels = Qrels.from_dict({"q1": {"d1": 1}})
    assert qrels.subtopics is None
    assert list(qrels.rows_by_subtopic()) == []
    assert qrels != Qrels.from_subtopics([("q1", "1", "d1", 1)])


IDS = st.sampled_from(["a", "b", "é", "Z", "10", "9"])


@settings(max_examples=40)
@given(st.dictionaries(st.tuples(IDS, IDS, IDS), st.integers(-1, 3)))
def test_no_row_is_lost_and_their_order_does_not_matter(judged: dict[tuple[str, str, str], int]) -> None:
    rows = [(*key, grade) for key, grade in judged.items()]
    qrels = Qrels.from_subtopics(rows)
    assert sorted(qrels.rows_by_subtopic()) == sorted(rows)
    assert Qrels.from_subtopics(reversed(rows)) == qrels
    for query_id, documents in qrels.to_dict().items():
        assert list(documents) == sorted(documents, key=str.encode, reverse=True)
        for doc_id, grade in documents.items():
            assert grade == max(g for (q, _, d), g in judged.items() if (q, d) == (query_id, doc_id))
