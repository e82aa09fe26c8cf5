"""Tests of weights, probabilities and tiers of a queries.csv in means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.inputs.query_weights import read_design
from assay.core.errors import NotValid, UnreadableInput
from tests.assay.conftest import Call

EVALUATE = ("evaluate", "two.txt", "bm25.run", "-m", "RR", "--format", "json", "--weights", "w.csv")


@pytest.fixture(autouse=True)
def two_queries(assay: Call) -> None:
    """A second judged query, which bm25 does not answer."""
    Path("two.txt").write_text(Path("qrels.txt").read_text() + "q2 0 d1 1\n")


def write(*rows: str) -> None:
    Path("w.csv").write_text("\n".join(("query_id,weight,probability,tier", *rows, "")))


def weighted(out: str) -> float:
    mean: float = json.loads(out)["runs"][0]["metrics"]["RR"]["weighted"]
    return mean


def test_weight_over_probability(assay: Call) -> None:
    write("q1,0.6,1.0,head", "q2,0.1,0.5,tail")
    status, out, err = assay(*EVALUATE)
    assert (status, err) == (0, "")
    assert weighted(out) == pytest.approx(0.6 / (0.6 + 0.1 / 0.5))


def test_a_draw_in_proportion_to_traffic_leaves_the_plain_mean(assay: Call) -> None:
    write("q1,0.06,0.6,head", "q2,0.01,0.1,tail")
    assert weighted(assay(*EVALUATE)[1]) == pytest.approx(0.5)


def test_weights_alone_on_such_a_draw_are_refused(assay: Call) -> None:
    write("q1,0.06,0.6,head", "q2,0.01,0.1,tail")
    status, out, err = assay(*EVALUATE, "--design", "none")
    assert (status, out) == (2, "")
    assert "w.csv: these queries were drawn in proportion to their traffic" in err
    assert "count the traffic twice" in err
    assert "remove --design none" in err


def test_weights_alone_on_another_draw_print_a_warning(assay: Call) -> None:
    write("q1,0.6,1.0,head", "q2,0.1,0.5,tail")
    status, out, err = assay(*EVALUATE, "--design", "none")
    assert status == 0
    assert weighted(out) == pytest.approx(0.6 / 0.7)
    assert err.startswith("note: w.csv: --design none ignores the unequal inclusion probabilities")
    assert err.count("\n") == 1


@pytest.mark.parametrize("probability", ["", "1.0", "0.25"])
def test_nothing_sampled_needs_one_word_and_no_note(assay: Call, probability: str) -> None:
    write(f"q1,0.6,{probability},head", f"q2,0.1,{probability},tail")
    status, out, err = assay(*EVALUATE, "--design", "none")
    assert (status, err) == (0, "")
    assert weighted(out) == pytest.approx(0.6 / 0.7)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q2,0.1,,tail", "'q2' has no probability"),
        ("q2,0.1,0,tail", "'q2' has the probability 0"),
        ("q2,,0.5,tail", "'q2' has no weight"),
    ],
)
def test_a_missing_value_of_a_query_is_reported_with_its_line(row: str, message: str) -> None:
    write("q1,0.6,1.0,head", row)
    with pytest.raises(UnreadableInput, match=f"w.csv:3: the query {message}"):
        read_design("w.csv", sampled=True, by_tier=False)


def test_missing_weights_are_reported_with_a_fix() -> None:
    write("q1,0.6,,head")
    with pytest.raises(NotValid, match=r"counts the traffic twice.*--design none"):
        read_design("w.csv", sampled=True, by_tier=False)


def test_tiers_need_no_weights() -> None:
    Path("w.csv").write_text("query_id,tier\nq1,head\nq2,tail\n")
    design, _ = read_design("w.csv", sampled=True, by_tier=True)
    assert design.weights_of(["q1"]) is None
    assert design.tiers_of(["q2", "q1"]) == ["tail", "head"]
    Path("w.csv").write_text("query_id,tier\nq1,head\nq2,\n")
    with pytest.raises(UnreadableInput, match=r"w.csv:3: the query 'q2' has no tier"):
        read_design("w.csv", sampled=True, by_tier=True)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("percentile", "interval: 90% percentile bootstrap over queries, seed 0\n"),
        ("bca", "interval: 90% BCa bootstrap over queries, seed 0\n"),
        ("t", "interval: 90% Student's t over queries\n"),
    ],
)
def test_the_table_says_how_intervals_were_made_and_which_are_missing(assay: Call, method: str, message: str) -> None:
    Path("many.txt").write_text("".join(f"q{n:02} 0 a 1\n" for n in range(20)))
    Path("many.run").write_text("".join(f"q{n:02} Q0 {'a' if n % 2 else 'b'} 1 1.0 x\n" for n in range(20)))
    write(*(f"q{n:02},0.05,{0.5 if n else 1.0},{'torso' if n else 'head'}" for n in range(20)))
    words = ("evaluate", "many.txt", "many.run", "-m", "P@1", "--ci", "0.9", "--ci-method", method)
    status, out, _ = assay(*words, "--weights", "w.csv", "--by", "tier")
    assert status == 0
    assert message in out
    assert "no interval for P@1, weighted: the tier 'head' has only one query" in out
    assert "no interval for P@1 of head: fewer than 10 queries\n" in out
    assert "torso, weighted by traffic\n" in out
    assert "no interval for P@1:" not in out


def test_strata_enter_by_their_shares(assay: Call) -> None:
    """By hand: bm25 has 1 for q1 and nothing for q2; q1 stands for all of the first stratum, both for the second."""
    head = "query_id,weight,probability,stratum,share,also"
    Path("w.csv").write_text(f"{head}\nq1,0.6,1.0,first,0.8,new|0.2||1.0|0.3\nq2,0.1,0.5,new,0.2,\n")
    assert weighted(assay(*EVALUATE)[1]) == pytest.approx(0.8 + 0.2 * 0.3 / (0.3 + 0.1 / 0.5))


def test_a_stratum_of_two_shares_and_a_query_outside_are_refused(assay: Call) -> None:
    head = "query_id,weight,probability,stratum,share"
    Path("w.csv").write_text(f"{head}\nq1,0.6,1.0,first,0.8\nq2,0.1,0.5,first,0.2\n")
    assert "the stratum 'first' has the share 0.8, but" in assay(*EVALUATE)[2]
    Path("w.csv").write_text(f"{head}\nq1,0.6,1.0,first,0.8\nq2,0.1,0.5,,\n")
    assert "w.csv:3: the query 'q2' has no stratum, but other queries do" in assay(*EVALUATE)[2].replace(", line ", ":")
