"""Tests of the demo's simulated raters."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from statistics import median

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from assay.strategies.pool import build_pool
from demo.asks import by_text
from demo.catalogue import documents
from demo.engines import runs
from demo.raters import TEMPERS, grade, note, relevance

SEED = 7


@pytest.fixture(scope="module")
def answers() -> dict[int, list[tuple[str, int | None, float]]]:
    shop = {document["doc_id"]: document for document in documents()}
    queries = {f"q{place:03}": text for place, text in enumerate(list(by_text())[::7])}
    pool = build_pool(runs(queries, documents()), "depth", {"depth": 10})
    return {
        rater: [grade(rater, queries[pair.query_id], shop[pair.doc_id], SEED) for pair in pool.pairs]
        for rater in TEMPERS
    }


def product(*words: str) -> dict:
    return next(document for document in documents() if all(word in document["title"] for word in words))


@pytest.mark.parametrize(
    ("query", "words", "low", "high"),
    [
        ("tent", ("Tent",), 2.5, 3.5),
        ("2 person tent", ("2 Three-Season Tent",), 2.5, 3.5),
        ("2 person tent", ("3 Three-Season Tent",), 1.5, 2.5),
        ("2 person tent", ("6 Family Tent",), 0.5, 1.5),
        ("tent", ("Tarp",), 0.5, 1.5),
        ("tent", ("Compass",), -1, 0.5),
        ("rain jacket women", ("Men's Rain Jacket",), 0.5, 1.5),
        ("quillmoor", ("Quillmoor",), 2.5, 3.5),
        ("quillmoor", ("Velkrin",), -1, 0.5),
    ],
)
def test_relevance_follows_from_the_query(query: str, words: tuple[str, ...], low: float, high: float) -> None:
    assert low < relevance(query, product(*words)) < high


def test_a_query_that_the_shop_never_saw_is_graded_by_its_words() -> None:
    assert relevance("solar lantern of my dreams", product("Solar Lantern")) > relevance("violin", product("Tent")) == 0


def test_raters_agree_as_people_do(answers: dict[int, list[tuple[str, int | None, float]]]) -> None:
    grades = {rater: [np.nan if g is None else g for _, g, _ in judged] for rater, judged in answers.items()}
    for one, other in combinations(grades, 2):
        both = [(a, b) for a, b in zip(grades[one], grades[other], strict=True) if a == a and b == b]
        assert 0.5 < cohen_kappa_score(*zip(*both, strict=True)) < 0.7
    alpha = krippendorff.alpha(reliability_data=np.array(list(grades.values())), level_of_measurement="ordinal")
    assert 0.7 < alpha < 0.87


def test_one_is_strict_and_one_is_lenient(answers: dict[int, list[tuple[str, int | None, float]]]) -> None:
    means = {rater: np.mean([g for _, g, _ in judged if g is not None]) for rater, judged in answers.items()}
    assert means[2] < means[1] < means[3]


def test_now_and_then_a_pair_cannot_be_rated(answers: dict[int, list[tuple[str, int | None, float]]]) -> None:
    for judged in answers.values():
        states = Counter(state for state, _, _ in judged)
        assert set(states) == {"graded", "unrateable"}
        assert states["unrateable"] < 0.05 * len(judged)
        assert all((g is None) == (state == "unrateable") for state, g, _ in judged)


def test_seconds_are_those_of_people(answers: dict[int, list[tuple[str, int | None, float]]]) -> None:
    for judged in answers.values():
        seconds = [second for _, _, second in judged]
        assert 5 < median(seconds) < 25
        assert min(seconds) > 1


def test_the_seed_decides() -> None:
    tent = product("Tent")
    assert grade(1, "Tent ", tent, 1) == grade(1, "tent", tent, 1)
    days = {grade(3, "2 person tent", product("3 Three-Season Tent"), seed)[1] for seed in range(30)}
    assert len(days) > 1
    with pytest.raises(KeyError):
        grade(4, "tent", tent, 1)


def test_a_note_says_what_is_missing_and_never_beside_the_highest_grade():
    notes = [
        (note(rater, query, document, given), given)
        for query in ("rain jacket women", "tent")
        for document in documents()
        for rater in (1, 2, 3)
        for given in (0, 3)
    ]
    assert not any(text for text, given in notes if given == 3)
    written = [text for text, grade in notes if text]
    assert 0.05 < len(written) / len(notes) < 0.4
    assert any("asks for" in text for text in written)
