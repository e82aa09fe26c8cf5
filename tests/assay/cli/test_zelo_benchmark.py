"""Tests of ``assay zelo benchmark``: missing documents, ``--most`` and metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from assay.llm.pairwise.benchmark_scores import figures, histogram
from tests.assay.conftest import Call

# Best first, as assay zelo fit writes them; they came as d3 d1 d4 d2.
TRUTH = {"d1": 2.0, "d2": 1.0, "d3": 0.0, "d4": -3.0}
CAME = ("d3", "d1", "d4", "d2")


def write(name: str, **queries: dict[str, float]) -> None:
    rows = [
        json.dumps({"query_id": query, "doc_id": doc, "score": score, "se": None})
        for query, scores in queries.items()
        for doc, score in scores.items()
    ]
    Path(name).write_text("".join(f"{row}\n" for row in rows))


def benchmark_of(assay: Call, *words: str) -> dict[str, Any]:
    status, out, err = assay("zelo", "benchmark", "truth.jsonl", "mine.jsonl", "--format", "json", *words)
    assert status == 0, err
    return {**json.loads(out), "err": err}


@pytest.fixture
def truth(assay: Call) -> Call:
    write("truth.jsonl", q1=TRUTH)
    pairs = [json.dumps({"query_id": "q1", "query": "tents", "doc_id": doc, "text": "A tent."}) for doc in CAME]
    Path("came.jsonl").write_text("".join(f"{pair}\n" for pair in pairs))
    return assay


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=8, unique=True), st.data())
def test_leaving_documents_out_of_a_right_ranking_never_pays(right: list[int], data: st.DataObject) -> None:
    everything = {f"d{at}": float(score) for at, score in enumerate(right)}
    subset = data.draw(st.sets(st.sampled_from(sorted(everything))))
    whole = figures(everything, everything, 3)
    part = figures(everything, {doc: everything[doc] for doc in subset}, 3)
    assert (whole.ndcg, whole.accuracy) == (pytest.approx(1), 1)
    assert part.omitted == len(everything) - len(subset)
    for mine, best in ((part.ndcg, whole.ndcg), (part.accuracy, whole.accuracy), (part.recall, whole.recall)):
        assert mine is not None
        assert best is not None
        assert mine <= best + 1e-12


def test_documents_without_a_score_come_last(truth: Call) -> None:
    # One of four documents, and the worst of them: of six pairs none is right, since the others have no order.
    write("mine.jsonl", q1={"d4": 0.9})
    figures = benchmark_of(truth, "-k", "2")
    assert figures["means"]["accuracy"] == 0
    assert figures["means"]["recall@2"] == 0
    # zbench puts of equal ones the later first: d4, then d3, d2, d1.
    expected = ndcg_score([[np.exp(TRUTH[doc]) for doc in ("d4", "d3", "d2", "d1")]], [[4, 3, 2, 1]])
    assert figures["means"]["ndcg"] == pytest.approx(expected)
    assert (figures["queries"][0]["omitted"], figures["queries"][0]["documents"]) == (3, 4)
    assert "3 documents have no score in mine.jsonl and rank below" in figures["err"]


def test_a_query_without_an_answer_counts_with_nothing(truth: Call) -> None:
    write("truth.jsonl", q1=TRUTH, q2=TRUTH)
    write("mine.jsonl", q1=TRUTH, q3=TRUTH)
    figures = benchmark_of(truth)
    assert figures["means"]["ndcg"] == figures["means"]["accuracy"] == 0.5
    assert "not in mine.jsonl: 1 query of truth.jsonl" in figures["err"]
    write("mine.jsonl", q3=TRUTH)
    assert truth("zelo", "benchmark", "truth.jsonl", "mine.jsonl")[0] == 2


def test_the_first_documents_are_those_that_came_first(truth: Call) -> None:
    write("mine.jsonl", q1={"d3": 3.0, "d1": 2.0, "d4": 1.0, "d2": 4.0})
    figures = benchmark_of(truth, "--most", "2", "--documents", "came.jsonl", "-k", "1")
    # d3 and d1 in the wrong order; of the two best documents, d1 and d2, the order would be wrong too, but by less.
    expected = (1 + np.exp(2) / np.log2(3)) / (np.exp(2) + 1 / np.log2(3))
    assert figures["queries"][0]["documents"] == 2
    assert figures["means"] == {"ndcg": pytest.approx(expected), "accuracy": 0, "recall@1": 0}
    status, _, err = truth("zelo", "benchmark", "truth.jsonl", "mine.jsonl", "--most", "2")
    assert (status, "--documents FILE" in err, err.count("\n")) == (2, True, 1)
    Path("came.jsonl").write_text('{"query_id": "q1", "query": "tents", "doc_id": "d1", "text": "A tent."}\n')
    status, _, err = truth("zelo", "benchmark", "truth.jsonl", "mine.jsonl", "--documents", "came.jsonl")
    assert (status, "has no document 'd2' of q1" in err) == (2, True)


def test_an_annotated_data_set_has_its_own_order(truth: Call) -> None:
    documents = [{"id": doc, "content": "A tent.", "metadata": {}, "score": TRUTH[doc]} for doc in CAME]
    line = {"query": {"id": "q1", "query": "tents"}, "documents": documents}
    Path("truth.jsonl").write_text(json.dumps(line) + "\n")
    write("mine.jsonl", q1={"d3": 3.0, "d1": 2.0, "d4": 1.0, "d2": 4.0})
    by_set, by_file = (
        benchmark_of(truth, "--most", "3"),
        benchmark_of(truth, "--most", "3", "--documents", "came.jsonl"),
    )
    assert by_set["queries"] == by_file["queries"]
    assert by_set["means"]["accuracy"] == pytest.approx(2 / 3)


def test_how_ndcg_and_both_kinds_of_scores_spread(truth: Call) -> None:
    write("mine.jsonl", q1={"d1": 0.5, "d2": 0.25, "d4": -0.5, "d9": 70.0})
    figures = benchmark_of(truth)
    spreads = figures["histograms"]
    assert [sum(count for _, _, count in spreads[name]) for name in ("truth", "scores")] == [4, 3]
    assert (spreads["truth"][0][0], spreads["truth"][-1][1]) == (-3, 2)
    assert (spreads["scores"][0][0], spreads["scores"][-1][1]) == (-0.5, 0.5)
    assert "1 document of mine.jsonl has no reference score" in figures["err"]
    out = truth("zelo", "benchmark", "truth.jsonl", "mine.jsonl")[1]
    for name in ("nDCG by query", "reference scores", "compared scores"):
        assert f"\n\n{name}\n" in out
    assert "-0.50 to -0.40       1  ####" in out
    assert histogram([], 3, None, None) == []
    assert sum(count for _, _, count in histogram([2.0, 2.0], 3, None, None)) == 2


def test_scores_too_large_for_an_exponential_have_gains_all_the_same() -> None:
    large = figures({"a": 900.0, "b": 899.0}, {"a": 1.0, "b": 2.0}, 1)
    small = figures({"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 2.0}, 1)
    assert large.ndcg == pytest.approx(small.ndcg)
