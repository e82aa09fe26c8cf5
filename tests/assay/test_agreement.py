"""Does ``assay agreement`` print the report, and count only what raters say?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.assay.conftest import Call


def test_the_worked_example(assay: Call) -> None:
    status, out, err = assay("agreement", "ratings.csv", "--format", "json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert told["cohen"][0]["unweighted"] == pytest.approx(0.7368, abs=5e-5)
    assert told["cohen"][0]["quadratic"] == pytest.approx(0.9180, abs=5e-5)
    assert told["alpha"]["ordinal"]["value"] == pytest.approx(0.8955, abs=5e-5)
    assert (told["raters"], told["pairs"], told["overlap"], told["alpha"]["ordinal"]["n"]) == (2, 5, 5, 5)


def test_the_table_tells_values_intervals_and_warnings(assay: Call) -> None:
    out = assay("agreement", "ratings.csv", "--scale", "0:3")[1]
    assert "Krippendorff's alpha, ordinal   0.8955  [0.2500, 1.0000]  5" in out
    assert "r01 - r02" in out
    assert "warning: pairs with two or more grades: 5" in out


def test_an_undefined_coefficient_has_a_reason(assay: Call) -> None:
    Path("one.csv").write_text("query_id,doc_id,rater,grade\nq,a,r1,2\nq,b,r1,1\n")
    told = json.loads(assay("agreement", "one.csv", "--format", "json")[1])
    assert told["alpha"]["ordinal"] == {"value": None, "low": None, "high": None, "n": 0, "reason": "no_overlap"}
    assert "no_overlap: undefined because" in assay("agreement", "one.csv")[1]


def test_machines_verdicts_and_missing_grades_are_not_counted(assay: Call) -> None:
    Path("all.csv").write_text(
        "query_id,doc_id,grade,state,rater_id,source\n"
        "q,a,1,graded,r1,human\nq,a,1,graded,r2,human\nq,b,2,graded,r1,human\nq,b,0,graded,r2,human\n"
        "q,b,3,graded,ai01,llm\nq,b,2,graded,lead,adjudicated\nq,c,,unrateable,r1,human\n"
    )
    status, out, err = assay("agreement", "all.csv", "--format", "json")
    assert (status, json.loads(out)["raters"], json.loads(out)["pairs"]) == (0, 2, 2)
    assert "not counted as grades of raters: 1 unrateable, 1 adjudicated, 1 llm" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ratings.csv", "--scale", "0:2"), "ratings.csv:2: the grade 3 is not on the scale"),
        (("ratings.csv", "--scale", "three"), "--scale is MIN:MAX"),
        (("ratings.csv", "--bootstrap", "-1"), "0 or more"),
        (("qrels.txt",), "qrels.txt:1:"),
        (("nothing.csv",), "nothing.csv: cannot be opened"),
    ],
)
def test_a_mistake_ends_with_two_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay("agreement", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
