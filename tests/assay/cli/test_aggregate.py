"""Tests of ``assay aggregate``: labels, conflicts and ties."""

from __future__ import annotations

import json
from pathlib import Path

from tests import worked_example
from tests.assay.conftest import Call


def test_the_worked_example(assay: Call) -> None:
    status, out, err = assay("aggregate", "ratings.csv", "--rule", "median")
    assert (status, out) == (0, worked_example.QRELS)
    assert "5 pairs by rule median: 1 conflict, 1 tie, 0 without a label" in err
    assert "q1 d3: 2 grades, 1 apart, label 0" in err


def test_a_majority_tie_has_no_label(assay: Call) -> None:
    _, out, err = assay("aggregate", "ratings.csv", "--rule", "majority")
    assert "d3" not in out
    assert "1 without a label" in err
    assert "q1 d3: 2 grades, 1 apart, no label, needs a resolution" in err


def test_real_means_are_csv(assay: Call) -> None:
    out = assay("aggregate", "ratings.csv", "--rule", "mean", "--real")[1]
    assert out.splitlines()[3] == "q1,d3,0.5,2,1,0"
    status, _, err = assay("aggregate", "ratings.csv", "--rule", "mean", "--real", "--format", "qrels")
    assert (status, err.count("\n")) == (2, 1)


def test_json_lists_conflicts_and_ties(assay: Call) -> None:
    labels = json.loads(assay("aggregate", "ratings.csv", "--format", "json")[1])
    assert (labels["rule"], len(labels["labels"])) == ("median", 5)
    assert [one["doc_id"] for one in labels["conflicts"]] == [one["doc_id"] for one in labels["ties"]] == ["d3"]


def test_conflicts_go_to_a_file(assay: Call) -> None:
    assay("aggregate", "ratings.csv", "--conflicts", "conflicts.csv", "--out", "labels.txt")
    assert Path("conflicts.csv").read_text() == "query_id,doc_id,grade,ratings,spread,tie\nq1,d3,0,2,1,1\n"
    assert Path("labels.txt").read_text() == worked_example.QRELS


def test_an_adjudicators_verdict_is_the_label(assay: Call) -> None:
    Path("all.csv").write_text(
        "query_id,doc_id,grade,state,rater_id,source\n"
        "q,a,0,graded,r1,human\nq,a,3,graded,r2,human\nq,a,2,graded,lead,adjudicated\nq,b,1,graded,lead,adjudicated\n"
    )
    assert assay("aggregate", "all.csv", "--rule", "majority")[1] == "q 0 a 2\nq 0 b 1\n"


def test_an_unknown_rule_is_answered_with_the_known_ones(assay: Call) -> None:
    status, _, err = assay("aggregate", "ratings.csv", "--rule", "medium")
    assert status == 2
    assert "did you mean median?" in err
