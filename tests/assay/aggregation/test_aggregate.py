"""Tests of the label rules: the label each rule gives, ties, conflicts and refused input."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.aggregation import RULES, aggregate
from assay.aggregation.dawid_skene import dawid_skene
from assay.core import Ratings
from assay.core.errors import NotValid, UnknownName

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "agreement-classics"


def one_pair(grades: list[int]) -> Ratings:
    return Ratings.from_rows(("q", "d", f"r{rater:02}", grade) for rater, grade in enumerate(grades))


def grade(rule: str, grades: list[int], *, real: bool = False) -> float | None:
    (label,) = aggregate(one_pair(grades), rule, real=real)
    return label.grade


def test_the_worked_example() -> None:
    columns = {"r01": [3, 1, 0, 2, 0], "r02": [3, 1, 1, 2, 0]}
    rows = [("q1", f"d{n}", rater, value) for rater, of in columns.items() for n, value in enumerate(of, 1)]
    labels = aggregate(Ratings.from_rows(rows), "median")
    assert list(labels.rows()) == [("q1", f"d{n}", float(value)) for n, value in enumerate([3, 1, 0, 2, 0], 1)]
    assert [(one.doc_id, one.spread) for one in labels.conflicts()] == [("d3", 1.0)]


@pytest.mark.parametrize(
    ("rule", "grades", "expected"),
    [
        ("median", [1, 2], 1),
        ("median", [0, 3], 0),
        ("median", [0, 1, 3], 1),
        ("median", [3], 3),
        ("median", [0, 2, 3, 3], 2),
        ("majority", [2, 2, 0], 2),
        ("majority", [0, 3], None),
        ("majority", [0, 0, 3, 3, 1], None),
        ("mean", [1, 2], 1),
        ("mean", [0, 1, 1], 1),
        ("mean", [2, 3, 3], 3),
        ("mean", [0, 1], 0),
        ("mean", [0, 3], 1),
        ("min", [1, 3, 2], 1),
        ("max", [1, 3, 2], 3),
        ("dawid-skene", [3, 3, 0], 3),
    ],
)
def test_labels_of_each_rule(rule: str, grades: list[int], expected: float | None) -> None:
    assert grade(rule, grades) == expected


def test_the_real_mean_keeps_fractions() -> None:
    assert grade("mean", [1, 2], real=True) == 1.5


def test_fractions_are_for_the_mean_only() -> None:
    with pytest.raises(NotValid, match="use the rule mean"):
        grade("median", [1, 2], real=True)


def test_ties_are_listed() -> None:
    labels = aggregate(one_pair([0, 3]), "majority")
    assert [one.doc_id for one in labels.ties()] == [one.doc_id for one in labels.unsettled()] == ["d"]
    assert list(labels.rows()) == []
    assert not aggregate(one_pair([1, 1]), "majority").ties()


def test_half_way_is_down_on_a_scale_with_gaps() -> None:
    (label,) = aggregate(one_pair([0, 5]), "mean", values=(0, 1, 4, 5))
    assert (label.grade, label.tie) == (1.0, True)


def test_no_ratings_make_no_labels() -> None:
    assert len(aggregate(Ratings.from_rows([]), "median")) == 0


def test_a_grade_off_the_scale_is_refused() -> None:
    with pytest.raises(NotValid, match="the grade 7 is not on the scale 0, 1, 2, 3"):
        grade("median", [7])


def test_an_unknown_rule_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="label rule 'medain'; did you mean median"):
        grade("medain", [1])


@pytest.mark.parametrize("rule", list(RULES))
def test_raters_who_agree_are_believed(rule: str) -> None:
    rows = [("q", f"d{unit}", f"r{rater}", unit % 4) for unit in range(12) for rater in range(5)]
    labels = aggregate(Ratings.from_rows(rows), rule)
    assert all(one.grade == int(one.doc_id[1:]) % 4 for one in labels)
    assert not labels.conflicts()
    assert not labels.ties()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_rules_stay_between_the_lowest_and_the_highest(grades: list[int]) -> None:
    for rule in ("median", "mean", "min", "max"):
        value = grade(rule, grades)
        assert value is not None
        assert min(grades) <= value <= max(grades)
    assert grade("median", grades) == sorted(grades)[(len(grades) - 1) // 2]
    assert grade("mean", grades) == math.ceil(sum(grades) / len(grades) - 0.5)


@pytest.mark.shared
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_dawid_and_skenes_patients() -> None:
    with (DATA / "dawid_skene1979_anaesthesia.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    expected = json.loads((DATA / "expected.json").read_text())["dawid_skene1979_anaesthesia"]
    unit = np.array([int(row["item"].removeprefix("p")) - 1 for row in rows])
    # Observer 1 saw every patient three times: one person, one confusion matrix.
    rater = np.array([int(row["rater"].removeprefix("obs").split(".")[0]) - 1 for row in rows])
    codes = np.array([int(row["value"]) - 1 for row in rows])
    model = dawid_skene(unit, rater, codes, 4, smoothing=1e-9, tolerance=1e-9)
    assert model.posterior.mean(axis=0) == pytest.approx(expected["class_marginals"], abs=1e-3)
    best = [int(expected["map_class_by_patient"][str(patient)]) - 1 for patient in range(1, 46)]
    assert model.posterior.argmax(axis=1).tolist() == best
    assert model.confusion[0] == pytest.approx(
        np.array(expected["error_rates_by_observer_true_by_observed"][0]), abs=5e-3
    )


def test_dawid_skene_sees_through_a_rater_who_turns_the_scale_round() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 4, 300)
    honest = [np.where(random.random(300) < 0.8, truth, random.integers(0, 4, 300)) for _ in range(4)]
    rater = np.repeat(np.arange(5), 300)
    model = dawid_skene(np.tile(np.arange(300), 5), rater, np.concatenate([*honest, 3 - truth]), 4)
    assert (model.posterior.argmax(axis=1) == truth).mean() > 0.97
    assert model.confusion[4].argmax(axis=1).tolist() == [3, 2, 1, 0]
