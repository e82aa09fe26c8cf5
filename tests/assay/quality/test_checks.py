"""Tests of the rater checks: honest raters raise no alert, careless and copying raters do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from assay.quality import CHECKS, Record, examine
from assay.quality.check import Finding
from assay.quality.consistency import kappa
from tests.assay.quality.simulated_rounds import Habit, simulated

ROUNDS, RATERS = 60, 6
# What docs/quality.md promises: at most one honest rater in fifty hears any alarm.
HONEST = 0.02


def rung(record: Record) -> dict[str, set[str]]:
    """Check to the raters for whom it rings."""
    return {name: {one.rater for one in rows if one.alarm} for name, rows in examine(record).items()}


def finding(record: Record, check: str, rater: int = 0) -> Finding:
    return CHECKS[check].find(record)[rater]


@pytest.mark.slow
@pytest.mark.parametrize("shape", [{"k": 2}, {"k": 3, "noise": 0.8}, {"k": 1}, {"queries": 10, "documents": 60}])
def test_honest_raters_are_left_alone(shape: dict[str, Any]) -> None:
    counted: Counter[str] = Counter()
    for seed in range(ROUNDS):
        for name, raters in rung(simulated(seed, raters=RATERS, **shape)).items():
            counted[name] += len(raters)
    assert sum(counted.values()) / (ROUNDS * RATERS) <= HONEST, counted


def test_two_raters_who_agree_well_are_no_copyists() -> None:
    assert all(not rung(simulated(seed, raters=2, noise=0.35))["copied"] for seed in range(20))


CHEATS: dict[str, tuple[Habit, set[str]]] = {
    "always the same": (lambda real, own, rng: np.full(len(real), 1), {"same-grade"}),
    "nearly always the same": (lambda real, own, rng: np.where(rng.random(len(real)) < 0.92, 2, own), {"same-grade"}),
    "in turn": (lambda real, own, rng: np.arange(len(real)) % 4, {"pattern", "gold", "consistency", "apart"}),
    "to and fro": (lambda real, own, rng: np.arange(len(real)) % 2 * 3, {"pattern"}),
    "by chance": (lambda real, own, rng: rng.integers(0, 4, len(real)), {"gold", "consistency", "apart"}),
    "a step too high": (lambda real, own, rng: np.minimum(own + 1, 3), {"leniency"}),
    "tired": (lambda real, own, rng: np.where(np.arange(len(real)) > len(real) * 0.6, 0, own), {"drift"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHEATS)
def test_rater_who_does_not_read_is_detected(name: str) -> None:
    habit, expected = CHEATS[name]
    caught: Counter[str] = Counter()
    for seed in range(10):
        for check, raters in rung(simulated(seed, queries=100, habits={0: habit})).items():
            caught[check] += "r01" in raters
    missed = {check: caught[check] for check in expected if caught[check] < 8}
    assert missed == {}, caught


def test_copied_grades_name_both_raters() -> None:
    for seed in range(5):
        record = simulated(seed, raters=5, k=3)
        mine = record.rater == 1
        source = dict(zip(record.unit[mine].tolist(), record.grade[mine].tolist(), strict=True))
        for row in np.flatnonzero(record.rater == 3):
            record.grade[row] = source.get(int(record.unit[row]), record.grade[row])
        assert rung(record)["copied"] == {"r02", "r04"}
        assert finding(record, "copied", 3).others == ("r02",)


def test_raters_paired_with_a_cheat_get_no_alert() -> None:
    """With three raters a third of everybody's comparisons are with the one who always gives 3."""
    blamed: Counter[str] = Counter()
    for seed in range(10):
        record = simulated(seed, raters=3, queries=60, habits={0: lambda real, own, rng: np.full(len(real), 3)})
        alone = {name: {one.rater for one in CHECKS[name].find(record) if one.alarm} for name in CHECKS}
        together = {name: {one.rater for one in rows if one.alarm} for name, rows in examine(record).items()}
        assert "r01" in together["same-grade"] & together["leniency"]
        blamed["alone"] += len(alone["leniency"] - {"r01"})
        blamed["together"] += sum(len(raters - {"r01"}) for raters in together.values())
    assert blamed["together"] <= 1 < blamed["alone"]


def test_too_fast_answers_are_detected() -> None:
    record = simulated(1, hurried=(2,))
    assert rung(record)["too-fast"] == {"r03"}
    assert finding(record, "too-fast", 2).value == pytest.approx(1.0)


@pytest.mark.parametrize("check", list(CHECKS))
def test_few_answers_cause_no_alert(check: str) -> None:
    record = simulated(3, raters=2, queries=2, documents=5, habits={0: CHEATS["always the same"][0]})
    for answers in (record.gold, record.repeats):
        for column in ("rater", "expected", "given"):
            object.__setattr__(answers, column, getattr(answers, column)[:12])
    one = finding(record, check)
    assert one.state == "too little"
    assert f"of {one.needed}" in one.message


@pytest.mark.parametrize("check", list(CHECKS))
def test_an_empty_round_is_too_little(check: str) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = Record(("r01", "r02"), (0, 1), nothing, nothing, nothing, nothing, np.zeros(0))
    assert [one.state for one in CHECKS[check].find(empty)] == ["too little"] * 2


def test_below_fifty_gold_pairs_there_are_no_alerts() -> None:
    record = simulated(4, habits={0: CHEATS["by chance"][0]})
    for column in ("rater", "expected", "given"):
        object.__setattr__(record.gold, column, getattr(record.gold, column)[:49])
    one = finding(record, "gold")
    assert (one.state, one.n, one.needed) == ("too little", 49, 50)
    assert one.high is not None


def test_kappa_of_repeats_is_the_oracles() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    record = simulated(5)
    for code in range(record.size):
        mine = record.repeats.rater == code
        first, second = record.repeats.expected[mine], record.repeats.given[mine]
        expected = sklearn.cohen_kappa_score(first, second, labels=range(4), weights="quadratic")
        assert finding(record, "consistency", code).value == pytest.approx(expected, abs=1e-12)


def test_kappa_of_one_grade_is_not_defined() -> None:
    assert kappa(np.array([[30.0, 0.0], [0.0, 0.0]]))[0] is None


def test_the_order_of_raters_changes_nothing() -> None:
    record = simulated(6, habits={0: CHEATS["by chance"][0]})
    turned = {**vars(record), "raters": record.raters[::-1], "rater": record.size - 1 - record.rater}
    other = Record(**{name: turned[name] for name in ("raters", "scale", "rater", "unit", "query", "grade", "seconds")})
    for check in ("same-grade", "pattern", "copied", "apart", "leniency", "drift"):
        before = {one.rater: (one.state, one.value) for one in CHECKS[check].find(record)}
        after = {one.rater: (one.state, one.value) for one in CHECKS[check].find(other)}
        assert after == before
