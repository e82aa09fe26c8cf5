"""Tests of ``assay calibrate`` and ``assay estimate``: numbers, left-out pairs and errors."""

from __future__ import annotations

import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.assay.conftest import Call

RNG = np.random.default_rng(4)
PAIRS = [(f"q{query}", f"d{doc}") for query in range(12) for doc in range(10)]
PEOPLE = {pair: int(RNG.integers(0, 4)) for pair in PAIRS}
MACHINE = {pair: int(np.clip(grade + RNG.integers(-1, 3), 0, 5)) for pair, grade in PEOPLE.items()}


def label(pair: tuple[str, str], grade: int | None, **more: object) -> str:
    outcome = "graded" if grade is not None else "refused"
    whole = {"query_id": pair[0], "doc_id": pair[1], "grade": grade, "outcome": outcome, "judge": "llm", **more}
    return json.dumps(whole) + "\n"


@pytest.fixture
def files(assay: Call) -> None:
    """People's qrels of eight queries; the machine's labels of twelve, some off the scale, some refused."""
    Path("human.txt").write_text("".join(f"{q} 0 {d} {g}\n" for (q, d), g in PEOPLE.items() if int(q[1:]) < 8))
    graded = [
        label(pair, None if place % 40 == 7 else grade, cost_usd=0.001)
        for place, (pair, grade) in enumerate(MACHINE.items())
    ]
    Path("labels.jsonl").write_text("".join(graded))
    Path("machine.txt").write_text("".join(f"{q} 1 {d} {g}\n" for (q, d), g in MACHINE.items()))
    ranked = sorted(PAIRS, key=lambda pair: (pair[0], -PEOPLE[pair]))
    Path("a.run").write_text("".join(f"{q} Q0 {d} 1 {PEOPLE[q, d]} a\n" for q, d in ranked))
    Path("b.run").write_text("".join(f"{q} Q0 {d} 1 {d[1:]} b\n" for q, d in ranked))


@pytest.mark.usefixtures("files")
def test_few_shot_examples_are_left_out_and_counted(assay: Call) -> None:
    """A judge that is right about its examples alone is no better for them."""
    shown = [pair for pair in PAIRS if pair[0] in ("q0", "q9")][:12]
    parameters = {"examples": [[*pair, PEOPLE[pair]] for pair in shown]}
    rows = {pair: PEOPLE[pair] if pair in shown else min(grade, 3) for pair, grade in MACHINE.items()}
    Path("shown.jsonl").write_text("".join(label(pair, grade, parameters=parameters) for pair, grade in rows.items()))
    Path("rest.jsonl").write_text("".join(label(pair, grade) for pair, grade in rows.items() if pair not in shown))
    Path("rest.txt").write_text("".join(f"{q} 0 {d} {g}\n" for (q, d), g in PEOPLE.items() if q[1:] in "1234567"))
    more = ("a.run", "b.run", "--bootstrap", "50", "--format", "json")
    with_them = json.loads(assay("calibrate", "human.txt", "shown.jsonl", *more)[1])
    without = json.loads(assay("calibrate", "rest.txt", "rest.jsonl", *more)[1])
    assert (with_them.pop("examples_left_out"), without.pop("examples_left_out")) == (12, 0)
    assert (with_them.pop("outcomes"), without.pop("outcomes")) == ({"graded": 120}, {"graded": 108})
    assert with_them == without
    table = assay("calibrate", "human.txt", "shown.jsonl")[1]
    assert "left out: 12 pairs shown to the judge as examples" in table
    Path("odd.jsonl").write_text(label(PAIRS[0], 1, parameters={"examples": 3}) + label(PAIRS[1], 1))
    assert assay("calibrate", "human.txt", "odd.jsonl")[0] == 0
    Path("few.txt").write_text("".join(f"{q} 0 {d} 1\n" for q, d in shown))
    status, _, err = assay("calibrate", "few.txt", "shown.jsonl")
    assert status == 2
    assert "have no pairs in common except 12 that were shown to the judge as examples" in err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("off_scale", ["leave-out", "clip"])
def test_kappas_are_those_of_the_libraries(assay: Call, off_scale: str) -> None:
    status, out, err = assay(
        "calibrate", "human.txt", "labels.jsonl", "--format", "json", "--off-scale", off_scale, "--bootstrap", "50"
    )
    calibration = json.loads(out)
    assert (status, err) == (0, "")
    rows = [
        (PEOPLE[pair], MACHINE[pair]) for place, pair in enumerate(PAIRS) if int(pair[0][1:]) < 8 and place % 40 != 7
    ]
    off = sum(grade > 3 for _, grade in rows)
    assert calibration["off_machine"] == off > 0
    rows = [(a, min(b, 3)) for a, b in rows if b <= 3 or off_scale == "clip"]
    ours, theirs = zip(*rows, strict=True)
    assert calibration["pairs"] == len(rows)
    for name, weights in (("unweighted", None), ("quadratic", "quadratic")):
        expected = cohen_kappa_score(ours, theirs, weights=weights, labels=[0, 1, 2, 3])
        assert calibration["kappa"][name]["value"] == pytest.approx(expected, abs=1e-9)
    expected = krippendorff.alpha([ours, theirs], level_of_measurement="ordinal")
    assert calibration["alpha"]["ordinal"]["value"] == pytest.approx(expected, abs=1e-9)
    assert calibration["alpha"]["ordinal"]["low"] < expected < calibration["alpha"]["ordinal"]["high"]
    assert calibration["outcomes"] == {"graded": 117, "refused": 3}
    assert calibration["cost_per_1000"] == pytest.approx(1_000 * 0.12 / 117)


@pytest.mark.usefixtures("files")
def test_a_table_tells_worth_bias_and_failures(assay: Call) -> None:
    status, out, _ = assay("calibrate", "human.txt", "labels.jsonl", "a.run", "b.run", "-m", "nDCG@5")
    assert status == 0
    for words in (
        "machine grade",
        "human 3 ",
        "nDCG@5",
        "rank correlation of the runs by nDCG@5: tau",
        "3 refused",
        "USD per 1,000",
    ):
        assert words in out
    assert "off the scale: 0 human" in out


@pytest.mark.usefixtures("files")
def test_qrels_and_ratings_are_labels_too(assay: Call) -> None:
    from_qrels = json.loads(assay("calibrate", "human.txt", "machine.txt", "--format", "json", "--scale", "0:5")[1])
    assert (from_qrels["pairs"], from_qrels["off_machine"], from_qrels["cost_usd"]) == (80, 0, None)
    rows = "".join(f"{q},{d},{rater},{g}\n" for (q, d), g in PEOPLE.items() for rater in ("a", "b"))
    Path("ratings.csv").write_text("query_id,doc_id,rater,grade\n" + rows)
    settled = json.loads(assay("calibrate", "ratings.csv", "machine.txt", "--format", "json", "--scale", "0:5")[1])
    assert settled["pairs"] == 120


@pytest.mark.usefixtures("files")
def test_estimates_are_listed_with_those_from_people_alone(assay: Call) -> None:
    words = ("estimate", "human.txt", "machine.txt", "a.run", "-m", "P(rel=2)@5", "--format", "json", "--plan", "0.1")
    status, out, _ = assay(*words)
    estimate = json.loads(out)
    assert status == 0
    assert (estimate["queries"], estimate["others"]) == (8, 4)
    assert estimate["low"] < estimate["estimate"] < estimate["high"]
    assert estimate["human_only"]["low"] < estimate["human_only"]["mean"] < estimate["human_only"]["high"]
    assert estimate["needed"]["with_machine"] <= estimate["needed"]["people_alone"]
    status, out, _ = assay("estimate", "human.txt", "machine.txt", "a.run", "b.run", "--plan", "0.05")
    assert status == 0
    assert "people labeled 8 queries; machine.txt labeled 4 others" in out
    assert "below 30" in out


@pytest.mark.usefixtures("files")
def test_strata_are_a_method_of_their_own(assay: Call) -> None:
    words = ("estimate", "human.txt", "machine.txt", "a.run", "-m", "P(rel=2)@5", "--format", "json")
    estimate = json.loads(assay(*words, "--method", "stratified")[1])
    assert (estimate["method"], json.loads(assay(*words)[1])["method"]) == ("stratified", "ppi")
    assert sum(one["units"] for one in estimate["strata"]) == estimate["queries"] + estimate["others"] == 12
    assert estimate["low"] < estimate["estimate"] < estimate["high"]


@pytest.mark.usefixtures("files")
def test_single_pairs_are_no_queries(assay: Call) -> None:
    """An audit slice is drawn over pairs: no metric of a query comes from it."""
    some = [pair for place, pair in enumerate(PAIRS) if place % 7 == 3]
    Path("slice.txt").write_text("".join(f"{q} 0 {d} {PEOPLE[q, d]}\n" for q, d in some))
    status, out, err = assay("estimate", "slice.txt", "machine.txt", "a.run")
    assert (status, out) == (2, "")
    assert "17 of the 120 pairs" in err
    assert "whole queries" in err
    status, out, _ = assay("estimate", "slice.txt", "machine.txt", "a.run", "--partly")
    assert (status, "the same part of each query" in out) == (0, True)


@pytest.mark.usefixtures("files")
def test_what_cannot_be_is_one_line(assay: Call) -> None:
    Path("two.jsonl").write_text(label(PAIRS[0], 1) + label(PAIRS[0], 2, judge="other"))
    Path("failed.jsonl").write_text(label(PAIRS[0], None))
    Path("elsewhere.txt").write_text("x 0 y 1\n")
    for words, message in (
        (("calibrate", "human.txt", "two.jsonl"), "2 judges: llm, other"),
        (("calibrate", "human.txt", "two.jsonl", "--judge", "third"), "'third' does not select exactly one judge"),
        (("calibrate", "human.txt", "failed.jsonl"), "gave no grades"),
        (("calibrate", "human.txt", "elsewhere.txt"), "no pairs in common"),
        (("calibrate", "human.txt", "machine.txt", "--judge", "llm"), "do not name a judge"),
        (("calibrate", "human.txt", "nothing.jsonl"), "nothing.jsonl"),
        (("calibrate", "human.txt", "machine.txt", "--bootstrap", "-1"), "--bootstrap is -1"),
        (("estimate", "human.txt", "elsewhere.txt", "a.run"), "no query has both human and machine labels"),
        (("estimate", "human.txt", "machine.txt", "a.run", "--ci", "2"), "--ci is 2"),
        (("estimate", "human.txt", "machine.txt", "a.run", "--plan", "0"), "--plan is 0"),
    ):
        status, out, err = assay(*words)
        faults = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert (status, out, len(faults)) == (2, "", 1), words
        assert message in err
    assert assay("calibrate", "human.txt", "two.jsonl", "--judge", "other")[0] == 0


@pytest.mark.usefixtures("files")
def test_a_metric_without_a_run_has_no_effect(assay: Call) -> None:
    assert "-m AP has no effect" in assay("calibrate", "human.txt", "machine.txt", "-m", "AP")[2]


@pytest.mark.usefixtures("files")
def test_a_run_of_the_judges_model_family_is_reported(assay: Call) -> None:
    words = ("calibrate", "human.txt", "labels.jsonl", "gpt=a.run", "bm25=b.run", "--bootstrap", "20", "--judge", "llm")
    lines = Path("labels.jsonl").read_text().splitlines()
    Path("labels.jsonl").write_text("\n".join(json.dumps({**json.loads(one), "model": "gpt-4o"}) for one in lines))
    calibration = json.loads(assay(*words, "--format", "json")[1])
    assert calibration["kin"] == [{"name": "gpt", "family": "GPT", "declared": False}]
    assert "warning: gpt (GPT, by its name) is from the same model family" in assay(*words)[1]
    declared = json.loads(assay(*words, "--format", "json", "--family", "gpt=none", "--family", "bm25=GPT")[1])
    assert [(one["name"], one["declared"]) for one in declared["kin"]] == [("bm25", True)]
    assert "warning" not in assay(*words, "--family", "gpt=Llama")[1]
    for wrong in ("third=GPT", "GPT", "gpt=GPT and Llama"):
        status, _, message = assay(*words, "--family", wrong)
        assert (status, f"--family {wrong}" in message) == (2, True)
