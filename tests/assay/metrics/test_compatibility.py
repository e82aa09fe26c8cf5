"""Tests of Compat: rank-biased overlap of the run with its best order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from assay.core.errors import NotValid
from tests.assay.metrics.generated_cases import (
    FRACTIONS,
    LABELS,
    RUN,
    Grades,
    Judged,
    check,
    labels,
    per_query,
    rankings,
)


def overlap(one: list[str], other: list[str], p: float, depth: int) -> float:
    weights = [p ** (i - 1) for i in range(1, depth + 1)]
    agreed = [len(set(one[:i]) & set(other[:i])) / i for i in range(1, depth + 1)]
    return sum(w * a for w, a in zip(weights, agreed, strict=True)) / sum(weights)


def slow(ranked: list[str], grades: Grades, p: float, normalize: bool = True) -> float:
    response = [doc_id for doc_id in ranked if grades.get(doc_id, 0) > 0]
    ideal = response + [doc_id for doc_id in grades if grades[doc_id] > 0 and doc_id not in ranked]
    ideal.sort(key=lambda doc_id: -grades[doc_id])
    if not ideal:
        return 0.0
    depth = max(len(ranked), len(ideal))
    value = overlap(ranked, ideal, p, depth)
    return value / overlap(ideal, ideal, p, depth) if normalize else value


@settings(max_examples=50)
@given(labels(), rankings())
def test_it_is_the_definition(judged: Judged, scores: Judged) -> None:
    check(judged, scores, "Compat(p=0.8)", lambda ranked, grades: slow(ranked, grades, 0.8))
    check(judged, scores, "Compat(p=0.95,normalize=False)", lambda ranked, grades: slow(ranked, grades, 0.95, False))


@settings(max_examples=20)
@given(labels(FRACTIONS), rankings())
def test_fractions_only_order(judged: Judged, scores: Judged) -> None:
    check(judged, scores, "Compat(p=0.5)", lambda ranked, grades: slow(ranked, grades, 0.5))


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        ("Compat(p=0.95)", [0.32909681104384086, 0.7280163599182004, 0.0, 0.6622237572160511]),
        ("Compat(p=0.8)", [0.2512578136911115, 0.7486338797814206, 0.0, 0.6738741348169077]),
        ("Compat(p=0.8,normalize=False)", [0.23823980108133117, 0.7486338797814206, 0.0, 0.5706164229835696]),
    ],
)
def test_ir_measures_agrees(metric: str, theirs: list[float]) -> None:
    """From ir_measures 0.4.3 on the same case."""
    assert list(per_query(LABELS, RUN, metric).values()) == pytest.approx(theirs, abs=1e-12)


def test_negative_scores_where_ir_measures_has_another_ideal() -> None:
    """ir_measures gives what is not returned the score 0, above what is returned with a negative one."""
    judged, below = {"q": {"a": 1, "b": 1}}, {"q": {"a": -1.0}}
    assert per_query(judged, below, "Compat(p=0.8)") == per_query(judged, {"q": {"a": 1.0}}, "Compat(p=0.8)")


def test_the_best_order_is_1_and_nothing_is_0() -> None:
    judged = {"q": {"a": 3, "b": 1, "c": 0, "d": -1}}
    assert per_query(judged, {"q": {"a": 3.0, "b": 2.0, "u": 1.0}}, "Compat(p=0.9)")["q"] == pytest.approx(1.0)
    assert per_query(judged, {"q": {"c": 3.0, "d": 2.0}}, "Compat(p=0.9)") == {"q": 0.0}
    assert per_query({"q": {"c": 0, "d": -1}}, {"q": {"c": 1.0}}, "Compat(p=0.9)") == {"q": 0.0}


@pytest.mark.parametrize("name", ["Compat", "Compat(p=1)", "Compat(p=0)", "Compat(p=0.9)@10"])
def test_p_is_needed_and_a_cutoff_is_not(name: str) -> None:
    with pytest.raises(NotValid, match=r"write a metric such as|must be a number above 0 and below 1|takes no cutoff"):
        per_query({"q": {"a": 1}}, {"q": {"a": 1.0}}, name)


@pytest.mark.shared
def test_two_topics_of_a_thousand_documents(shared: Path) -> None:
    """The values of ir_measures' own test."""
    from assay.formats.trec_qrels import load_qrels
    from assay.formats.trec_run import RunFile

    folder = shared / "ir-measures-tests"
    from evaluation import evaluate

    result = evaluate(
        load_qrels(folder / "compat.qrels"),
        RunFile(folder / "compat.run", "compat.run", "run"),
        "Compat(p=0.95) Compat(p=0.8)",
    ).runs[0]
    assert result.metrics["Compat(p=0.95)"].mean == pytest.approx(0.26809761, abs=5e-9)
    assert result.metrics["Compat(p=0.8)"].mean == pytest.approx(0.08372908, abs=5e-9)
