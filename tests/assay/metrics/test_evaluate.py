"""Tests of evaluation: counted queries, reported issues and refused input."""

from __future__ import annotations

import math

import pytest

from assay.core import Qrels, Run
from assay.core.errors import NotValid
from assay.scoring.results import SamplingDesign
from evaluation import evaluate

QRELS = {"q1": {"d1": 3, "d2": 1, "d3": 0, "d4": 2, "d5": 0}}
BM25 = {"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}
NEURAL = {"q1": {"d4": 3.0, "d1": 2.0, "d5": 1.0}}


def mean(qrels: dict[str, dict[str, float]], run: dict[str, dict[str, float]], metric: str, **rules: str) -> float:
    result = evaluate(Qrels.from_dict(qrels), Run.from_dict(run, "run"), metric, **rules)  # type: ignore[arg-type]
    value = next(iter(result.runs[0].metrics.values())).mean
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("metric", "grades"),
    [
        ("nDCG(gain=exp)@10", [2000.0, 1.0]),
        ("nDCG(gain=exp)@10", [1023.0, 1023.0]),
        ("DCG(gain=exp)", [2000.0, 1.0]),
        ("ERR@10", [2000.0, 1.0]),
        ("nDCG", [1.7e308, 1.7e308]),
    ],
)
def test_grades_that_float64_cannot_add_up_are_refused(metric: str, grades: list[float]) -> None:
    judged = {"q1": dict(zip(["d1", "d2"], grades, strict=True)), "q2": {"d1": 1}}
    with pytest.raises(NotValid, match="grades"):
        evaluate(Qrels.from_dict(judged), Run.from_dict({"q1": {"d2": 1.0}, "q2": {"d1": 1.0}}), metric)


def test_dictionaries_are_taken_as_tables() -> None:
    result = evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "AP")
    assert result.runs[0].metrics["AP"].mean == 1.0


def test_ranges_can_be_left_out() -> None:
    qrels, run = Qrels.from_dict({"q1": {"a": 1}}), Run.from_dict({"q1": {"b": 2.0, "a": 1.0}})
    summary, silent = (evaluate(qrels, run, "P@2", ranges=ranges).runs[0].diagnostics for ranges in (True, False))
    assert (summary.bounds["P@2"].low, summary.bounds["P@2"].high) == (0.5, 1.0)
    assert (silent.bounds, silent.ties_at) == ({}, {})


def test_the_worked_example() -> None:
    runs = [Run.from_dict(BM25, "bm25"), Run.from_dict(NEURAL, "neural")]
    bm25, neural = evaluate(Qrels.from_dict(QRELS), runs, "nDCG@3 RR@3").runs
    assert bm25.metrics["nDCG@3"].mean == pytest.approx(0.7350, abs=5e-5)
    assert neural.metrics["nDCG@3"].mean == pytest.approx(0.8175, abs=5e-5)
    assert bm25.metrics["RR@3"].mean == neural.metrics["RR@3"].mean == 1.0


def test_an_unjudged_document_is_a_hole() -> None:
    new = Run.from_dict({"q1": {"d1": 3.0, "d9": 2.0, "d2": 1.0}}, "new")
    scores = evaluate(Qrels.from_dict(QRELS), new, "Judged@3").runs[0]
    assert scores.metrics["Judged@3"].mean == pytest.approx(2 / 3)
    assert scores.diagnostics.holes == 1


def test_an_unanswered_query_scores_zero_or_is_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}}
    assert mean(qrels, run, "AP") == 0.5
    assert mean(qrels, run, "AP", missing="skip") == 1.0


def test_a_skipped_query_is_counted_nowhere() -> None:
    result = evaluate(
        Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}}), Run.from_dict({"q1": {"a": 1.0}}, "run"), "AP", "skip"
    )
    scores = result.runs[0]
    assert (scores.metrics["AP"].queries, scores.diagnostics.queries_missing) == (1, 1)
    assert math.isnan(scores.per_query["AP"][1])
    assert result.as_json()[0]["per_query"] == {"q1": {"AP": 1.0}}


def test_a_query_without_judgments_is_ignored_and_counted() -> None:
    run = Run.from_dict({"q1": {"d1": 1.0}, "q9": {"d1": 1.0}}, "run")
    scores = evaluate(Qrels.from_dict(QRELS), run, "P@1").runs[0]
    assert (scores.metrics["P@1"].mean, scores.metrics["P@1"].queries) == (1.0, 1)
    assert scores.diagnostics.queries_unjudged == 1


def test_diagnostics_tell_ties_and_queries_without_relevant_documents() -> None:
    qrels = Qrels.from_rows([("q1", "a", 0), ("q1", "a", 0), ("q1", "b", -1)])
    diagnostics = evaluate(qrels, Run.from_dict({"q1": {"a": 1.0, "b": 1.0}}, "run"), "AP").runs[0].diagnostics
    assert diagnostics.as_json() == {
        "rows": 2,
        "ties": 1.0,
        "duplicates": 1,
        "queries_missing": 0,
        "queries_unjudged": 0,
        "queries_without_relevant": 1,
        "queries_negative": 0,
        "missing": [],
        "unjudged": [],
        "holes@10": 0,
        "negative@10": 1,
        "least_judged": None,
        "float32_ties": 0,
        "ranks_contradicted": 0,
        "identical_to": [],
        "depth": {"min": 2, "median": 2.0, "max": 2},
        "ties_at": {},
        "bounds": {"AP": {"low": 0.0, "high": 0.0}},
    }


def test_fractional_grades_are_scored() -> None:
    assert mean({"q": {"a": 0.5, "b": 1.5}}, {"q": {"a": 2.0, "b": 1.0}}, "RR") == 0.5


def test_two_runs_of_one_name_are_refused() -> None:
    runs = [Run.from_dict(BM25, "same"), Run.from_dict(NEURAL, "same")]
    with pytest.raises(NotValid, match="two runs are named 'same'"):
        evaluate(Qrels.from_dict(QRELS), runs, "AP")


def test_a_run_over_other_queries_is_refused() -> None:
    with pytest.raises(NotValid, match=r"answers none of the judged queries.*'q1'.*'301'"):
        evaluate(Qrels.from_dict(QRELS), Run.from_dict({"301": {"d1": 1.0}}, "other"), "AP")


def test_a_run_over_other_documents_is_refused() -> None:
    """Internal numbers of an index in the place of the documents' ids would score 0 everywhere."""
    with pytest.raises(NotValid, match=r"none of the judged documents.*'d1'.*'7'"):
        evaluate(Qrels.from_dict(QRELS), Run.from_dict({"q1": {"7": 1.0}, "q2": {"8": 1.0}}, "other"), "AP")


def test_a_run_of_unjudged_documents_is_scored_where_its_ids_are_of_the_same_kind() -> None:
    assert mean({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"b": 1.0}}, "AP") == 0.0


def test_empty_qrels_are_refused() -> None:
    with pytest.raises(NotValid, match="contain no judgments"):
        evaluate(Qrels.from_dict({}), Run.from_dict(BM25, "bm25"), "AP")


def test_an_interval_is_requested_and_seeded() -> None:
    qrels = Qrels.from_dict({f"q{n}": {"a": 1} for n in range(20)})
    run = Run.from_dict({f"q{n}": {"a" if n % 2 else "b": 1.0} for n in range(20)}, "run")
    first, second = (evaluate(qrels, run, "P@1", level=0.95, seed=3).runs[0].metrics["P@1"] for _ in range(2))
    assert first == second
    assert first.low is not None
    assert first.high is not None
    assert first.low < 0.5 < first.high


def test_no_interval_from_few_queries() -> None:
    summary = evaluate(Qrels.from_dict(QRELS), Run.from_dict(BM25, "bm25"), "AP", level=0.95).runs[0].metrics["AP"]
    assert (summary.low, summary.high, summary.reason) == (None, None, "fewer than 10 queries")


def test_weights_and_tiers() -> None:
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}})
    run = Run.from_dict({"q1": {"a": 1.0}, "q2": {"b": 1.0}}, "run")
    weights, tiers = {"q1": 3.0, "q2": 1.0}, {"q1": "head", "q2": "tail"}
    design = SamplingDesign(weights=weights, tiers=tiers, by_tier=True, sampled=False)
    result = evaluate(qrels, run, "P@1", design=design)
    assert result.runs[0].metrics["P@1"].weighted == 0.75
    assert [(tier, of["P@1"].mean) for tier, of in result.runs[0].by_tier.items()] == [("head", 1.0), ("tail", 0.0)]
    assert result.effective_queries == pytest.approx(1.6)


def test_a_judged_query_without_weight_is_refused() -> None:
    design = SamplingDesign(weights={"q2": 1.0}, sampled=False)
    with pytest.raises(NotValid, match="'q1' has no weight"):
        evaluate(Qrels.from_dict(QRELS), Run.from_dict(BM25, "bm25"), "AP", design=design)


def test_runs_that_rank_alike_are_reported() -> None:
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"b": 1}})
    first = Run.from_dict({"q1": {"a": 3.0, "b": 2.0}, "q2": {"b": 1.0}}, "first")
    scaled = Run.from_dict({"q2": {"b": 7.0}, "q1": {"a": 0.9, "b": 0.1}}, "scaled")
    turned = Run.from_dict({"q1": {"b": 3.0, "a": 2.0}, "q2": {"b": 1.0}}, "turned")
    elsewhere = Run.from_dict({"q2": {"a": 3.0, "b": 2.0}, "q1": {"b": 1.0}}, "elsewhere")
    result = evaluate(qrels, [first, scaled, turned, elsewhere], "AP").runs
    assert [run.diagnostics.identical_to for run in result] == [("scaled",), ("first",), (), ()]


def test_scores_that_float32_cannot_tell_apart_are_counted() -> None:
    run = Run.from_dict({"q1": {"a": 16777217.0, "b": 16777216.0, "c": 1.0}}, "run")
    diagnostics = evaluate(Qrels.from_dict({"q1": {"a": 1}}), run, "RR").runs[0].diagnostics
    assert (diagnostics.float32_ties, diagnostics.ties) == (1, 0.0)


def test_metrics_that_no_grade_can_reach_are_reported() -> None:
    run = Run.from_dict({"q": {"a": 2.0, "b": 1.0}}, "run")
    evaluation = evaluate(Qrels.from_dict({"q": {"a": 0.37, "b": 0.2}}), run, "P@5 RR AP(rel=2) P(rel=0.3)@5 nDCG@10")
    assert dict(evaluation.unreached) == {"P@5": 1.0, "RR": 1.0, "AP(rel=2)": 2.0}
    assert not evaluate(Qrels.from_dict({"q": {"a": 1.0}}), run, "P@5 nDCG@10").unreached
