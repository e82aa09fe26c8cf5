"""Tests of ``assay agreement``: the report, the gate, and the rows that count."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.assay.conftest import Call


def test_the_worked_example(assay: Call) -> None:
    status, out, err = assay("agreement", "ratings.csv", "--format", "json")
    report = json.loads(out)
    assert (status, err) == (0, "")
    assert report["cohen"][0]["unweighted"] == pytest.approx(0.7368, abs=5e-5)
    assert report["cohen"][0]["quadratic"] == pytest.approx(0.9180, abs=5e-5)
    assert report["alpha"]["ordinal"]["value"] == pytest.approx(0.8955, abs=5e-5)
    assert (report["raters"], report["pairs"], report["overlap"], report["alpha"]["ordinal"]["n"]) == (2, 5, 5, 5)


def test_the_table_tells_values_intervals_and_warnings(assay: Call) -> None:
    out = assay("agreement", "ratings.csv", "--scale", "0:3")[1]
    assert re.search(r"Krippendorff's alpha, ordinal +0.8955 +\[0.[12]\d{3}, 1.0000\]  5\n", out)
    assert re.search(r"Krippendorff's alpha, ratio +0.6142 ", out)
    assert "r01 - r02" in out
    assert "warning: 5 pairs from 1 query with two or more grades" in out


def test_an_undefined_coefficient_has_a_reason(assay: Call) -> None:
    Path("one.csv").write_text("query_id,doc_id,rater,grade\nq,a,r1,2\nq,b,r1,1\n")
    report = json.loads(assay("agreement", "one.csv", "--format", "json")[1])
    assert report["alpha"]["ordinal"] == {"value": None, "low": None, "high": None, "n": 0, "reason": "no_overlap"}
    assert "no_overlap: undefined because" in assay("agreement", "one.csv")[1]


def test_machines_verdicts_and_missing_grades_are_not_counted(assay: Call) -> None:
    Path("all.csv").write_text(
        "query_id,doc_id,grade,state,rater_id,source\n"
        "q,a,1,graded,r1,human\nq,a,1,graded,r2,human\nq,b,2,graded,r1,human\nq,b,0,graded,r2,human\n"
        "q,b,3,graded,ai01,llm\nq,b,2,graded,lead,adjudicated\nq,c,,unrateable,r1,human\n"
    )
    status, out, err = assay("agreement", "all.csv", "--format", "json")
    assert (status, json.loads(out)["raters"], json.loads(out)["pairs"]) == (0, 2, 2)
    assert "not grades of raters: 1 unrateable, 1 adjudicated, 1 llm" in err


def write_grades(raters_differ: float) -> None:
    """Forty queries of ten pairs, two raters who draw lots as often as asked, and the tiers of the queries."""
    random = np.random.default_rng(5)
    rows = ["query_id,doc_id,rater,grade"]
    for query in range(40):
        for document in range(10):
            truth = random.integers(0, 4)
            for rater in ("r1", "r2"):
                grade = random.integers(0, 4) if random.random() < raters_differ else truth
                rows.append(f"q{query:02},d{document},{rater},{grade}")
    Path("many.csv").write_text("\n".join(rows) + "\n")
    tiers = [f"q{query:02},words {query},{'head' if query < 10 else 'tail'}" for query in range(40)]
    Path("queries.csv").write_text("\n".join(["query_id,query,tier", *tiers]) + "\n")


def test_a_gate_that_failed_is_the_exit_status(assay: Call) -> None:
    write_grades(raters_differ=0.5)
    value = json.loads(assay("agreement", "many.csv", "--format", "json")[1])["coefficients"]["cohen-quadratic"][
        "value"
    ]
    outputs, close = {}, f"{value + 0.02:.3f}"
    for threshold, status in (("0.05", 0), (close, 0), ("0.9", 1)):
        exit_status, out, err = assay("agreement", "many.csv", "--gate", "cohen-quadratic", "--threshold", threshold)
        assert (exit_status, err) == (status, "")
        outputs[threshold] = out
    assert "gate cohen-quadratic >= 0.05: passed\n" in outputs["0.05"]
    assert re.search(r": undecided\n.* About [\d,]+ more overlapping pairs", outputs[close])
    assert "gate cohen-quadratic >= 0.9: failed\n" in outputs["0.9"]


def test_agreement_within_grades_queries_and_tiers(assay: Call) -> None:
    write_grades(raters_differ=0.3)
    words = ("--by", "query", "--by", "tier", "--queries", "queries.csv", "--by", "grade")
    report = json.loads(assay("agreement", "many.csv", *words, "--format", "json")[1])
    assert [(row["name"], row["queries"], row["n"]) for row in report["by_tier"]] == [
        ("head", 10, 100),
        ("tail", 30, 300),
    ]
    assert len(report["by_query"]) == 40
    steps = [row["steps_apart"] for row in report["by_query"]]
    assert steps == sorted(steps, reverse=True)
    assert [row["grade"] for row in report["grades"]] == [0, 1, 2, 3]
    out = assay("agreement", "many.csv", *words)[1]
    assert all(heading in out for heading in ("specific agreement", "\ntier ", "\nquery "))
    Path("queries.csv").write_text("query_id,query,tier\nq00,words,head\n")
    status, _, err = assay("agreement", "many.csv", *words)
    assert (status, err.count("\n")) == (2, 1)
    assert "the query 'q01' has no tier" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ratings.csv", "--scale", "0:2"), "ratings.csv:2: the grade 3 is not on the scale"),
        (("ratings.csv", "--scale", "three"), "write MIN:MAX"),
        (("ratings.csv", "--bootstrap", "-1"), "0 or more"),
        (("ratings.csv", "--gate", "kappa"), "known: alpha-ordinal, "),
        (("ratings.csv", "--threshold", "0.5"), "--threshold needs --gate"),
        (("ratings.csv", "--gate", "ac1", "--threshold", "1.5"), "--threshold is 1.5"),
        (("ratings.csv", "--gate", "ac1", "--bootstrap", "0"), "--gate needs an interval"),
        (("ratings.csv", "--by", "tier"), "--by tier and --queries FILE must be used together"),
        (("qrels.txt",), "qrels.txt:1:"),
        (("nothing.csv",), "nothing.csv: cannot be opened"),
    ],
)
def test_a_mistake_ends_with_two_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay("agreement", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
