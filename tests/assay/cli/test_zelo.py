"""Tests of ``assay zelo``: drawing battles, and fits against a reference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.assay.conftest import Call


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def battle(a: str, b: str, score: float | None, **more: object) -> str:
    return json.dumps({"query_id": "q1", "a": a, "b": b, "score": score, **more}) + "\n"


# The four battles of the field's reference, as scores: a share of 2/3 for the second is a score of 1/3.
FOUR = battle("x", "y", 1 / 3) + battle("y", "z", -1 / 3) + battle("z", "x", 1.0) + battle("z", "x", 1 / 3)


def test_scores_are_those_of_the_reference(assay: Call) -> None:
    Path("battles.jsonl").write_text(FOUR)
    status, out, err = assay("zelo", "fit", "battles.jsonl")
    scores = {row["doc_id"]: row["score"] for row in lines(out)}
    assert status == 0
    assert scores == pytest.approx({"x": 0.204699, "y": 0.192843, "z": -0.397542}, abs=1.5e-6)
    assert all(row["se"] > 0 for row in lines(out))  # type: ignore[operator]
    assert err == "3 documents of 1 query scored from 4 answers\n"
    _, out, _ = assay("zelo", "fit", "battles.jsonl", "--prior", "0.1")
    assert {row["doc_id"]: row["score"] for row in lines(out)} == pytest.approx(
        {"x": 0.325943, "y": 0.427639, "z": -0.753582}, abs=1.5e-6
    )


def test_failed_calls_are_reported_and_are_not_votes(assay: Call) -> None:
    Path("battles.jsonl").write_text(FOUR + battle("y", "x", None) * 3)
    status, out, err = assay("zelo", "fit", "battles.jsonl")
    assert (status, {row["doc_id"] for row in lines(out)}) == (0, {"x", "y", "z"})
    assert lines(out)[0]["score"] == pytest.approx(0.204699, abs=1.5e-6)
    assert "3 rows without a score" in err
    Path("none.jsonl").write_text(battle("y", "x", None))
    assert assay("zelo", "fit", "none.jsonl")[0] == 2


def test_wins_of_the_first_position(assay: Call) -> None:
    # Twice the first shown won (once swapped: then it is b), once the second.
    Path("battles.jsonl").write_text(
        battle("x", "y", -1.0, swapped=False) + battle("x", "y", 0.5, swapped=True) + battle("x", "y", 0.5)
    )
    assert "the document shown first won 66.7% of 3 answers" in assay("zelo", "fit", "battles.jsonl")[2]


def test_zbench_counts_votes_of_models(assay: Call) -> None:
    # Two of three models prefer y, by a hair; zbench sees only the sign.
    Path("battles.jsonl").write_text(battle("x", "y", 0.1) + battle("x", "y", 0.1) + battle("y", "x", 1.0))
    votes = lines(assay("zelo", "fit", "battles.jsonl", "--method", "zbench")[1])
    assert votes[0]["doc_id"] == "y"
    assert votes[0]["score"] == pytest.approx(0.3466, abs=0.02)  # half of ln 2, where it stops
    real = lines(assay("zelo", "fit", "battles.jsonl")[1])
    assert real[0]["doc_id"] == "x"


def test_pairs_are_drawn_again_with_the_seed_and_by_query_alone(assay: Call) -> None:
    rows = [json.dumps({"query_id": f"q{q}", "query": "tent", "doc_id": f"d{d}"}) for q in (1, 2) for d in range(30)]
    Path("both.jsonl").write_text("\n".join(rows) + "\n")
    Path("one.jsonl").write_text("\n".join(rows[:30]) + "\n")
    status, out, err = assay("zelo", "pairs", "both.jsonl", "--seed", "7")
    assert status == 0
    assert err.endswith("battles of 2 queries, seed 7\n")
    assert assay("zelo", "pairs", "both.jsonl", "--seed", "7")[1] == out
    alone = assay("zelo", "pairs", "one.jsonl", "--seed", "7")[1]
    assert out.startswith(alone)
    assert assay("zelo", "pairs", "both.jsonl", "--seed", "8")[1] != out
    assert all(row["score"] is None for row in lines(out))


def test_fewer_documents_and_both_orders(assay: Call) -> None:
    Path("qrels.txt").write_text("".join(f"q1 0 d{d} 1\n" for d in range(30)) + "q2 0 d1 1\n")
    status, out, err = assay("zelo", "pairs", "qrels.txt", "--most", "5", "--cycles", "1", "--both", "1")
    battles = lines(out)
    assert (status, len(battles)) == (0, 10)
    assert {row["a"] for row in battles} | {row["b"] for row in battles} == {f"d{d}" for d in range(5)}
    assert len({(row["a"], row["b"], row["swapped"]) for row in battles}) == 10
    assert "1 query has only one document" in err


def test_what_cannot_be_is_one_line(assay: Call) -> None:
    Path("log.csv").write_text("query,count\ntent,3\n")
    Path("bad.jsonl").write_text(battle("x", "y", 1.5))
    Path("self.jsonl").write_text(battle("x", "x", 0.5))
    for words, message in (
        (("pairs", "log.csv"), "log.csv: has no queries with documents"),
        (("pairs", "pairs.jsonl", "--most", "1"), "--most is 1"),
        (("pairs", "pairs.jsonl", "--cycles", "0"), "at least one cycle"),
        (("pairs", "pairs.jsonl", "--both", "2"), "from 0 to 1"),
        (("fit", "bad.jsonl"), "bad.jsonl:1"),
        (("fit", "self.jsonl"), "compared with itself"),
        (("fit", "nothing.jsonl"), "nothing.jsonl"),
        (("fit", "bad.jsonl", "--prior", "0"), "bad.jsonl:1"),
    ):
        status, out, err = assay("zelo", *words)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert message in err


def test_options_of_another_action_print_a_note(assay: Call) -> None:
    Path("battles.jsonl").write_text(FOUR)
    assert (
        "--seed 3 has no effect: it applies to assay zelo pairs"
        in assay("zelo", "fit", "battles.jsonl", "--seed", "3")[2]
    )
    assert (
        "--prior 2 has no effect: the method zbench has no prior"
        in assay("zelo", "fit", "battles.jsonl", "--method", "zbench", "--prior", "2")[2]
    )
