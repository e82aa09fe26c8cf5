"""Tests of adaptive strategies: choices depend on judgments only."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.core.run import Run
from assay.strategies import STRATEGIES
from assay.strategies.chosen_pairs import Pool
from assay.strategies.pool import build_pool
from assay.strategies.strategy import Wording

WORDS = Wording.of(
    {"q1": "wing", "q2": "tent"},
    {
        **{f"r{n}": f"lift of a wing in a stream number {n}" for n in range(30)},
        **{f"n{n}": f"heat of a plate in a tunnel number {n}" for n in range(30)},
    },
)
ADAPTIVE = [name for name in STRATEGIES if STRATEGIES[name].adaptive]


def run_of(name: str, **rankings: list[str]) -> Run:
    return Run.from_dict({q: {d: -float(at) for at, d in enumerate(docs)} for q, docs in rankings.items()}, name)


GOOD = run_of("good", q1=[f"r{n}" for n in range(30)])
BAD = run_of("bad", q1=[f"n{n}" for n in range(30)])


def chosen(pool: Pool) -> list[str]:
    return [pair.doc_id for pair in pool.pairs]


def judged_by_letter(pool: Pool) -> dict[tuple[str, str], float]:
    """Documents that begin with r are relevant."""
    return {(pair.query_id, pair.doc_id): float(pair.doc_id.startswith("r")) for pair in pool.pairs}


def replayed(name: str, rounds: int, size: int = 5, seed: int = 1, runs: tuple[Run, ...] = (GOOD, BAD)) -> list[str]:
    judged: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        judged |= judged_by_letter(build_pool(runs, name, seed=seed, budget=size, judged=judged, wording=WORDS))
    return [doc_id for _, doc_id in judged]


@pytest.mark.parametrize("name", [name for name in ADAPTIVE if name != "variable-depth"])
def test_judgments_lead_to_the_run_that_is_right(name: str) -> None:
    result = replayed(name, rounds=5)
    assert len(set(result)) == 25
    assert sum(doc_id.startswith("r") for doc_id in result) >= 18
    assert sum(doc_id.startswith("r") for doc_id in result[15:]) >= 8


@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_same_judgments_and_seed_give_the_same_choice(name: str) -> None:
    judged = {("q1", "r0"): 3.0, ("q1", "n0"): 0.0, ("q1", "r1"): None}
    pools = [
        build_pool(runs, name, seed=7, budget=6, judged=judged, wording=WORDS) for runs in ((GOOD, BAD), (BAD, GOOD))
    ]
    assert pools[0] == pools[1]
    assert not {doc_id for _, doc_id in judged} & set(chosen(pools[0]))


@pytest.mark.parametrize("name", ADAPTIVE)
def test_queries_are_independent(name: str) -> None:
    both = [run_of("good", q1=GOOD.ranking("q1"), q2=["r7", "n3"]), run_of("bad", q1=BAD.ranking("q1"), q0=["n9"])]
    judged = {("q1", "r0"): 1.0, ("q1", "n0"): 0.0}
    alone = build_pool([GOOD, BAD], name, seed=3, budget=6, judged=judged, wording=WORDS)
    among = build_pool(both, name, seed=3, budget=6, judged=judged, wording=WORDS)
    if name != "text-learning":  # which learns words from all documents
        assert chosen(alone) == [pair.doc_id for pair in among.pairs if pair.query_id == "q1"]
    assert {pair.query_id for pair in among.pairs} == {"q0", "q1", "q2"}


@pytest.mark.parametrize("name", ADAPTIVE)
def test_every_candidate_is_chosen_once_when_nothing_limits(name: str) -> None:
    params = {"start": 30} if name == "variable-depth" else {}
    result = chosen(build_pool([GOOD, BAD], name, params, seed=2, wording=WORDS))
    assert sorted(result) == sorted([*GOOD.ranking("q1"), *BAD.ranking("q1")])


@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_residual_is_drawn_from_what_is_left(name: str) -> None:
    judged = {("q1", "r0"): 1.0, ("q1", "n0"): 0.0}
    pool = build_pool([GOOD, BAD], name, seed=2, budget=4, residual=5, judged=judged, wording=WORDS)
    rest = [pair for pair in pool.pairs if pair.why == "residual"]
    assert len(rest) == 5
    assert {pair.probability for pair in rest} == {5 / (58 - (len(pool) - 5))}
    assert not {pair.doc_id for pair in pool.pairs} & {"r0", "n0"}


def test_pending_pairs_are_skipped() -> None:
    pending = {("q1", f"r{n}"): None for n in range(5)}
    pool = build_pool([GOOD], "move-to-front", budget=2, judged=pending)
    assert (chosen(pool), pool.judged) == (["r5", "r6"], 5)


def test_the_lowest_relevant_grade_is_the_callers() -> None:
    judged = {("q1", f"{letter}0"): grade for letter, grade in (("r", 2.0), ("n", 1.0))}
    pool = build_pool([GOOD, BAD], "hedge", budget=10, judged=judged, relevant_from=2)
    assert all(doc_id.startswith("r") for doc_id in chosen(pool))


def test_move_to_front_stays_while_it_is_right() -> None:
    """Worked by hand: after r0 r1 relevant and r2 not, the run has -1 and the other, at 0, is next."""
    judged = {("q1", "r0"): 1.0, ("q1", "r1"): 1.0, ("q1", "r2"): 0.0, ("q1", "n0"): 0.0, ("q1", "n1"): 0.0}
    # Whichever begins: good loses one at r2, bad one at n0, and one of them another; good is level or ahead.
    seen = {
        chosen(build_pool([GOOD, BAD], "move-to-front", seed=seed, budget=1, judged=judged))[0] for seed in range(9)
    }
    assert seen <= {"r3", "n2"}
    assert "r3" in seen


def test_hedge_by_hand() -> None:
    """Two runs of two: votes are ln(3 / r) / ln 3; a miss at rank 1 costs a run nine tenths of its weight."""
    one, other = run_of("a", q=["x", "y"]), run_of("b", q=["z", "w"])
    pool = build_pool([one, other], "hedge", judged={("q", "x"): 0.0})
    assert chosen(pool) == ["z", "w", "y"]
    second = math.log(3 / 2) / math.log(3)
    assert second > 0.1  # w, the second of the trusted run, beats y by weight and not by vote
    assert chosen(build_pool([one, other], "hedge", judged={("q", "x"): 1.0}))[0] == "y"


def test_thompson_follows_runs_as_often_as_they_are_believed() -> None:
    judged = {("q1", f"r{n}"): 1.0 for n in range(9)} | {("q1", f"n{n}"): 0.0 for n in range(9)}
    first = [chosen(build_pool([GOOD, BAD], "thompson", seed=s, budget=1, judged=judged))[0][0] for s in range(40)]
    assert first.count("r") >= 36


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ({}, ["r0", "r1", "r2"]),
        ({"r0": 1.0, "r1": 1.0, "r2": 0.0}, ["r3"]),
        ({"r0": 0.0, "r1": 0.0, "r2": 0.0}, []),
        ({"r0": 1.0, "r1": 1.0}, ["r2"]),
    ],
)
def test_variable_depth_continues_where_it_pays(grades: dict[str, float], expected: list[str]) -> None:
    judged = {("q1", doc_id): grade for doc_id, grade in grades.items()}
    assert chosen(build_pool([GOOD], "variable-depth", {"start": 3, "floor": 0.5}, judged=judged)) == expected


def test_text_learning_begins_by_weight_and_then_reads() -> None:
    mixed = run_of("mixed", q1=[f"{letter}{n}" for n in range(15) for letter in "nr"])
    begun = build_pool([mixed], "text-learning", budget=4, wording=WORDS)
    assert chosen(begun) == ["n0", "r0", "n1", "r1"]
    assert {pair.why for pair in begun.pairs} == {"text-learning/rbp"}
    then = build_pool([mixed], "text-learning", budget=10, judged=judged_by_letter(begun), wording=WORDS)
    assert all(doc_id.startswith("r") for doc_id in chosen(then))
    assert {pair.why for pair in then.pairs} == {"text-learning"}


@pytest.mark.parametrize("wording", [None, Wording.of({"q1": "wing"}, {"r0": "...", "n0": ""})])
def test_text_learning_needs_words(wording: Wording | None) -> None:
    with pytest.raises(NotValid, match="text"):
        build_pool([GOOD, BAD], "text-learning", wording=wording)


def test_batches_are_shuffled_inside_and_separated() -> None:
    pool = build_pool([GOOD, BAD], "depth", {"depth": 10}, seed=4)
    order = [pair.step for pair in pool.handed_out(5)]
    assert [sorted(order[at : at + 5]) for at in range(0, 20, 5)] == np.arange(1, 21).reshape(4, 5).tolist()
    assert order != sorted(order)
    assert [pair.step for pair in pool.handed_out(1)] == list(range(1, 21))
    assert order == [pair.step for pair in build_pool([GOOD, BAD], "depth", {"depth": 10}, seed=4).handed_out(5)]
