"""Tests of ``assay usefulness``: values by formula, and correlations against other libraries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from assay.core.errors import NotValid
from assay.core.run import Run
from assay.rag.usefulness import correlation, list_values
from tests.assay.conftest import Call


def labels(values: dict[tuple[str, str], float]) -> str:
    rows = [
        {"query_id": query, "doc_id": doc, "outcome": "graded", "usefulness": value}
        for (query, doc), value in values.items()
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_by_hand() -> None:
    run = Run.from_dict({"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}, "q3": {"x": 1.0}})
    values = list_values({("q1", "a"): 0.5, ("q1", "b"): 0.0, ("q2", "a"): 0.8}, run, 2)
    assert (values["q1"].precision, values["q1"].hit, values["q1"].unlabelled) == (0.25, 0.5, 0)
    # A list of one document has nothing on its second place.
    assert (values["q2"].precision, values["q2"].hit) == (0.4, 0.8)
    assert "q3" not in values
    assert list_values({("q1", "a"): 0.5}, run, 2)["q1"].precision is None
    with pytest.raises(NotValid):
        list_values({}, run, 0)


def test_undefined_correlations_have_a_reason() -> None:
    assert correlation({"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 0.0}).reason == "too_few_queries"
    assert correlation(dict.fromkeys("abc", 1.0), {"a": 1.0, "b": 0.0, "c": 0.5}).reason == "constant"


def test_whole_runs_against_answers(assay: Call) -> None:
    rng = np.random.default_rng(3)
    queries = [f"q{number:02}" for number in range(12)]
    values = {(query, f"d{rank}"): float(rng.integers(0, 2)) for query in queries for rank in range(4)}
    scores = {query: round(float(rng.random()), 3) for query in queries}
    Path("useful.jsonl").write_text(labels(values))
    Path("own.run").write_text(
        "".join(f"{query} Q0 d{rank} {rank + 1} {9 - rank} own\n" for query in queries for rank in range(4))
    )
    Path("scores.csv").write_text("query_id,score\n" + "".join(f"{query},{score}\n" for query, score in scores.items()))
    words = ("usefulness", "useful.jsonl", "own.run", "-k", "2", "-m", "P@2 AP", "--answers", "scores.csv")
    status, out, err = assay(*words, "--format", "json")
    assert status == 0, err
    metrics = json.loads(out)["runs"][0]["metrics"]
    lists = [(values[query, "d0"] + values[query, "d1"]) / 2 for query in queries]
    answered = [scores[query] for query in queries]
    assert metrics["P@2"]["mean"] == pytest.approx(np.mean(lists))
    assert metrics["P@2"]["tau"] == pytest.approx(kendalltau(lists, answered)[0])
    assert metrics["P@2"]["rho"] == pytest.approx(spearmanr(lists, answered)[0])
    assert set(metrics) == {"P@2", "Hit@2", "AP"}
    assert metrics["P@2"]["queries"] == 12


def test_fractions_have_no_metric_that_asks_for_relevant_or_not(assay: Call) -> None:
    status, out, err = assay("usefulness", "useful.jsonl", "bm25.run", "-k", "2", "-m", "nDCG@2")
    assert status == 0, err
    assert [line.split()[1] for line in out.splitlines()[1:4]] == ["P@2", "Hit@2", "nDCG@2"]
    for words, message in (
        (("useful.jsonl", "bm25.run", "-m", "AP"), "AP needs labels of 0 or 1"),
        (("labels.jsonl", "bm25.run"), "has no usefulness"),
        (("useful.jsonl", "bm25.run", "-k", "0"), "cutoff is 0"),
        (("useful.jsonl", "bm25.run", "--answers", "queries.csv"), "queries.csv:2"),
    ):
        status, out, err = assay("usefulness", *words)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert message in err
