"""Tests of ``assay reuse``: numbers and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.assay.conftest import Call


@pytest.fixture
def files(assay: Call) -> None:
    """Two queries; `late` alone returns the relevant documents first."""
    Path("few.txt").write_text("q1 0 d1 1\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 0\nq2 0 d2 1\n")
    Path("late.run").write_text("q1 Q0 d2 1 2 x\nq1 Q0 d1 2 1 x\nq2 Q0 d2 1 1 x\n")
    Path("first.run").write_text("q1 Q0 d1 1 2 x\nq1 Q0 d3 2 1 x\nq2 Q0 d1 1 1 x\n")


@pytest.mark.usefixtures("files")
def test_numbers_by_hand_as_json(assay: Call) -> None:
    status, out, err = assay(
        "reuse", "few.txt", "late.run", "first.run", "-m", "P@1", "--depth", "1", "--format", "json"
    )
    assert (status, err) == (0, "")
    report = json.loads(out)
    late = report["left_out"][0]
    assert (late["unique"], late["unique_relevant"], late["worst"], late["ranks_lost"], late["tau"]) == (
        2,
        2,
        -1,
        1,
        -1,
    )
    assert report["judged"]["first"]["Judged@5"] == 1.0
    assert report["missed"]["value"] == 0
    assert report["discovery"]["steps"][0] == {"depth": 1, "pooled": 4, "judged": 4, "relevant": 3}


@pytest.mark.usefixtures("files")
def test_the_table_says_the_same(assay: Call) -> None:
    status, out, _ = assay("reuse", "few.txt", "late.run", "first.run", "-m", "P@1", "--depth", "1")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert status == 0
    assert "late 2 2 2 1.0000 0.0000 1 2 1.0000 0.2500 -1.0000" in lines
    assert (
        "relevant documents still unjudged: about 0, 95% interval 0 to 0, among 0 unjudged pairs of 2 queries; " in out
    )


@pytest.mark.usefixtures("files")
def test_a_new_run_is_ranked_and_not_left_out(assay: Call) -> None:
    status, out, _ = assay("reuse", "few.txt", "late.run", "first.run", "--new", "first")
    assert status == 0
    assert "only one run contributed" in out


@pytest.mark.usefixtures("files")
def test_the_residual_stratum_of_a_pool_measures_what_was_missed(assay: Call) -> None:
    """One pair deep, `assay pool` draws one of the two that are left of q1; grades say that all are relevant."""
    assert assay("pool", "late.run", "first.run", "--depth", "1", "--residual", "1", "--out", "pool.csv")[0] == 0
    pairs = [line.split(",")[:2] for line in Path("pool.csv").read_text().splitlines()[1:]]
    Path("judged.txt").write_text("".join(f"{query_id} 0 {doc_id} 1\n" for query_id, doc_id in pairs))
    drawn = [line for line in Path("pool.csv").read_text().splitlines() if "residual" in line]
    left = sum(1 / float(line.split(",")[5]) - 1 for line in drawn)
    words = ("judged.txt", "late.run", "first.run", "--depth", "1", "--pool", "pool.csv", "--format", "json")
    status, out, _ = assay("reuse", *words)
    missed = json.loads(out)["missed"]
    assert (status, missed["method"], missed["value"]) == (0, "residual", left)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query_id,doc_id\nq1,d1\n", "why"),
        ("query_id,doc_id,why,probability\nq1,d1,depth,1\n", "no pair was drawn at random"),
        ("query_id,doc_id,why,probability\nq1,d1,residual,2\n", "pool.csv:2: the probability is '2'"),
        ("query_id,doc_id,why,probability\nq1,d1,residual,x\n", "pool.csv:2: the probability is 'x'"),
        ("query_id,doc_id,why,probability\nq1,d1,residual\n", "pool.csv"),
    ],
)
def test_a_pool_that_tells_no_stratum(assay: Call, content: str, message: str) -> None:
    Path("pool.csv").write_text(content)
    status, _, err = assay("reuse", "few.txt", "late.run", "first.run", "--pool", "pool.csv")
    assert status == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--new", "neural"), "--new names 'neural'"),
        (("--together", "late,neural"), "unknown run 'neural'"),
        (("--depth", "0"), "--depth is 0"),
        (("-m", "GMAP"), "the mean of GMAP"),
        (("-m", "P@1 P@2"), "use one metric"),
        (("--together", "late,first"), "all contributors"),
    ],
)
def test_invalid_options_are_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay("reuse", "few.txt", "late.run", "first.run", *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("files")
def test_two_runs_of_one_name(assay: Call) -> None:
    status, _, err = assay("reuse", "few.txt", "late.run", "late=first.run")
    assert status == 2
    assert "two runs are named 'late'" in err
