"""Golden tests of the text metrics: they reproduce values computed elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.text_metrics import TEXT_METRICS
from assay.text_metrics.accuracy import accuracy
from assay.text_metrics.exact_match import exact_match
from assay.text_metrics.token_f1 import token_f1

WORDS = st.lists(st.sampled_from(["red", "green", "the", "a", "", "four-way", "!"])).map(" ".join)


@pytest.fixture
def golden(shared: Path) -> dict[str, Any]:
    return json.loads((shared / "text-metrics" / "qa_em_f1.json").read_text())


@pytest.mark.shared
def test_every_golden_item(golden: dict[str, Any]) -> None:
    for item in golden["items"]:
        assert exact_match(item["prediction"], item["answers"]) == item["em"], item["id"]
        assert token_f1(item["prediction"], item["answers"]) == pytest.approx(item["f1"], abs=1e-6), item["id"]


@pytest.mark.shared
def test_the_golden_means(golden: dict[str, Any]) -> None:
    for name, score in (("exact", exact_match), ("f1", token_f1)):
        values = {item["id"]: score(item["prediction"], item["answers"]) for item in golden["items"]}
        answered = [item["id"] for item in golden["items"] if item["answers"]]
        assert 100 * fmean(values.values()) == pytest.approx(golden[name], abs=1e-4)
        assert 100 * fmean(values[one] for one in answered) == pytest.approx(golden[f"HasAns_{name}"], abs=1e-4)


@pytest.mark.parametrize("name", TEXT_METRICS)
@settings(deadline=None)  # the first answer that rouge-score scores waits for its import
@given(answer=WORDS, accepted=st.lists(WORDS, max_size=3))
def test_scores_are_shares_and_the_best_answer_counts(name: str, answer: str, accepted: list[str]) -> None:
    metric = TEXT_METRICS[name]
    assert metric.name == name
    assert 0 <= metric.score(answer, accepted) <= 1
    assert metric.score(answer, [*accepted, "red"]) >= metric.score(answer, ["red"])


@given(one=WORDS, other=WORDS)
def test_f1_is_symmetric(one: str, other: str) -> None:
    assert token_f1(one, [other]) == token_f1(other, [one])


@pytest.mark.shared
def test_rouge_is_that_of_the_published_program(shared: Path) -> None:
    from assay.text_metrics.rouge import rouge_l

    folder = shared / "text-metrics" / "rouge"
    right, predictions = ((folder / f"{name}.txt").read_text().splitlines() for name in ("target", "prediction"))
    cases = json.loads((folder / "rouge155_published.json").read_text())["cases"]
    rouge_cases = [case for case in cases if case["type"] == "rougeL" and not case["stemmer"] and "line" in case]
    for case in rouge_cases:
        assert rouge_l(predictions[case["line"]], [right[case["line"]]]) == pytest.approx(case["f"], abs=1e-5)
    assert rouge_cases
    assert (rouge_l("", []), rouge_l("a word", []), rouge_l("", ["a word"])) == (1, 0, 0)


def test_accuracy_holds_whole_words_alone() -> None:
    cases = [("The capital is Paris.", ["paris"]), ("Parisian", ["Paris"]), ("New York", ["york new"]), ("", [])]
    assert [accuracy(answer, right) for answer, right in cases] == [1, 0, 0, 1]
