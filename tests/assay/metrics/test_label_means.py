"""Tests of fractional labels: averaged like eRAG."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from assay.core.errors import NotValid
from tests.assay.metrics.generated_cases import FRACTIONS, Grades, Judged, check, labels, per_query, rankings


@settings(max_examples=30)
@given(labels(FRACTIONS), rankings())
def test_they_are_the_definitions(judged: Judged, scores: Judged) -> None:
    for k in (1, 3, 20):
        check(judged, scores, f"MeanLabel@{k}", lambda ranked, grades, k=k: sum(top(ranked, grades, k)) / k)
        check(judged, scores, f"MaxLabel@{k}", lambda ranked, grades, k=k: max(top(ranked, grades, k)))


def top(ranked: list[str], grades: Grades, k: int) -> list[float]:
    return [grades.get(doc_id, 0.0) for doc_id in ranked[:k]]


@settings(max_examples=30)
@given(labels(), rankings())
def test_with_labels_of_0_and_1_they_are_precision_and_success(judged: Judged, scores: Judged) -> None:
    binary = {query_id: {d: float(g > 0) for d, g in grades.items()} for query_id, grades in judged.items()}
    for mine, theirs in (("MeanLabel@3", "P@3"), ("MaxLabel@3", "Success@3")):
        assert per_query(binary, scores, mine) == per_query(binary, scores, theirs)


def test_a_short_list_is_divided_by_k_and_negative_labels_count_0() -> None:
    judged = {"q": {"a": 0.5, "b": -2.0}}
    assert per_query(judged, {"q": {"a": 1.0}}, "MeanLabel@10") == {"q": 0.05}
    assert per_query(judged, {"q": {"b": 2.0, "a": 1.0}}, "MeanLabel@2") == {"q": 0.25}
    assert per_query(judged, {"q": {"b": 2.0, "a": 1.0}}, "MaxLabel@1") == {"q": 0.0}


@pytest.mark.parametrize("name", ["MeanLabel", "MaxLabel"])
def test_a_cutoff_is_needed(name: str) -> None:
    with pytest.raises(NotValid, match=f"needs a cutoff; write {name}@10"):
        per_query({"q": {"a": 1}}, {"q": {"a": 1.0}}, name)
