"""Tests of ``--subtopics``: metrics over labels by subtopic."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.assay.conftest import Call

QRELS = "q1 1 d1 1\nq1 1 d2 2\nq1 2 d3 1\nq1 2 d1 0\n"
MIXED = "alpha_nDCG@2 P@1"
JSON = ("--format", "json")


@pytest.fixture
def labels(assay: Call) -> str:
    Path("diversity.qrels").write_text(QRELS)
    return "diversity.qrels"


def test_metrics_with_and_without_subtopics(assay: Call, labels: str) -> None:
    # bm25 ranks d1, d3, d2 (d3 is tied with d2 and comes first): subtopic 1, then 2, then 1 again.
    status, out, _ = assay(
        "evaluate", labels, "bm25.run", "--subtopics", "-m", "alpha_nDCG@3 ERR_IA@2 P(rel=2)@3", "--format", "json"
    )
    scores = json.loads(out)
    assert status == 0
    assert scores["qrels"]["judgments"] == 3
    assert scores["runs"][0]["per_query"]["q1"] == {
        "alpha_nDCG@3": pytest.approx(1.0),
        "ERR_IA@2": pytest.approx((1 + 1 / 2) / (2 * (1 + 1 / 4))),
        "P(rel=2)@3": pytest.approx(1 / 3),
    }


def test_runs_are_compared_and_gated_by_subtopic(assay: Call, labels: str) -> None:
    scores = json.loads(assay("evaluate", labels, "bm25.run", "neural.run", "--subtopics", "-m", MIXED, *JSON)[1])
    means = {run["name"]: {name: one["mean"] for name, one in run["metrics"].items()} for run in scores["runs"]}
    status, out, _ = assay("compare", labels, "bm25.run", "neural.run", "--subtopics", "-m", MIXED, *JSON)
    assert (status, json.loads(out)["runs"]) == (0, means)
    rules = ("--rule", f"alpha_nDCG@2 >= {means['neural']['alpha_nDCG@2'] + 0.1}")
    status, out, _ = assay("gate", labels, "--candidate", "neural.run", "--subtopics", *rules)
    assert status == 1
    again = shlex.split(out.rpartition("inspect with: assay ")[2])
    assert again[-1] == "--subtopics"
    assert assay(*again)[0] == 0


def test_the_format_of_the_labels_says_it_too(assay: Call, labels: str) -> None:
    by_option = assay("evaluate", labels, "bm25.run", "--subtopics", "-m", MIXED)
    assert assay("evaluate", labels, "bm25.run", "--qrels-format", "trec-subtopic-qrels", "-m", MIXED) == by_option
    status, _, err = assay("evaluate", labels, "bm25.run", "--subtopics", "--qrels-format", "trec-qrels")
    assert (status, err.count("\n")) == (2, 1)
    assert "--subtopics reads trec-subtopic-qrels, not trec-qrels" in err


@pytest.mark.parametrize("metric", ["alpha_nDCG@10", "ERR_IA(rel=2)@5"])
def test_labels_without_subtopics_are_refused_with_the_remedy(assay: Call, metric: str) -> None:
    status, out, err = assay("evaluate", "qrels.txt", "bm25.run", "-m", f"nDCG@10 {metric}")
    assert (status, out) == (2, "")
    assert f"the metric {metric} needs labels by subtopic" in err
    assert "--subtopics" in err


def test_subtopic_labels_read_as_plain_qrels_are_refused(assay: Call, labels: str) -> None:
    Path(labels).write_text(QRELS + "q1 2 d2 0\n")
    status, _, err = assay("evaluate", labels, "bm25.run")
    assert status == 2
    assert f"{labels}:1: 'q1 1 d1 1' contradicts line 4, 'q1 2 d1 0'" in err
    assert "read the file with --subtopics" in err


def test_a_bad_line_ends_with_two(assay: Call, labels: str) -> None:
    Path(labels).write_text(QRELS + "q1 d1 1\n")
    status, _, err = assay("evaluate", labels, "bm25.run", "--subtopics", "-m", "alpha_nDCG@3")
    assert status == 2
    assert f"{labels}:5: 3 fields instead of 4" in err
