"""`assay.rag.evaluate`: intervals, slices, services and what it refuses."""

from __future__ import annotations

import random
from math import isfinite, sqrt
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from sacrebleu.metrics.bleu import BLEU

from assay.core.errors import NotValid
from assay.rag import LLMCritic, evaluate

NUMBER = 300


@pytest.fixture(scope="module")
def rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    draw = random.Random(3)
    words = [f"w{n}" for n in range(8)]
    samples, outputs = [], []
    for at in range(NUMBER):
        target = draw.choices(words, k=draw.randint(4, 9))
        remaining_words = [word for word in target if draw.random() < 0.8]
        labels = {"tier": draw.choice(["head", "tail", None]), "long": len(target) > 6}
        labels |= {"variant_of": "0", "scenario": "typo"} if at and at % 3 == 0 else {}
        samples.append({"sample_id": str(at), "query": "q", "reference_answer": " ".join(target), "labels": labels})
        outputs.append(
            {"sample_id": str(at), "response": " ".join(remaining_words), "timings": {"end_to_end": draw.random()}}
        )
    return samples, outputs


def test_the_interval_of_a_mean_is_that_of_the_bootstrap(rows) -> None:
    score = evaluate(*rows, "TokenF1").systems[0].scores["TokenF1"]
    values = np.array(score.result.per_sample, dtype=float)
    error = values.std() / sqrt(NUMBER)
    assert score.low is not None
    assert score.high is not None
    assert score.low == pytest.approx(score.value - 1.96 * error, abs=0.15 * error)
    assert score.high == pytest.approx(score.value + 1.96 * error, abs=0.15 * error)
    again = evaluate(*rows, ["ExactMatch", "TokenF1"]).systems[0].scores["TokenF1"]
    assert (again.low, again.high) == (score.low, score.high)
    assert evaluate(*rows, "TokenF1", seed=1).systems[0].scores["TokenF1"].low != score.low
    wide = evaluate(*rows, "TokenF1", level=0.99).systems[0].scores["TokenF1"]
    assert wide.low is not None
    assert wide.low < score.low


@pytest.mark.slow
def test_bleu_and_ratios_are_computed_anew_from_each_resample(rows) -> None:
    samples, outputs = rows
    bleu, ratio = evaluate(samples, outputs, ["bleu", "NoiseRobustness(TokenF1)"]).systems[0].scores.values()
    draw = np.random.default_rng(5)
    values = []
    for _ in range(400):
        places = draw.integers(0, NUMBER, NUMBER)
        answers, right = ([rows[at][key] for at in places] for rows, key in
                       ((outputs, "response"), (samples, "reference_answer")))  # fmt: skip
        values.append(BLEU().corpus_score(answers, [right]).score)
    assert bleu.low == pytest.approx(np.quantile(values, 0.025), abs=0.25 * np.std(values))
    assert bleu.high == pytest.approx(np.quantile(values, 0.975), abs=0.25 * np.std(values))
    assert bleu.low < bleu.value < bleu.high
    f1 = np.array(evaluate(samples, outputs, "TokenF1").systems[0].scores["TokenF1"].result.per_sample, dtype=float)
    noisy = np.array(["variant_of" in sample["labels"] for sample in samples])
    ratios = []
    for _ in range(2000):
        places = draw.integers(0, NUMBER, NUMBER)
        ratios.append(f1[places][noisy[places]].mean() / f1[places][~noisy[places]].mean())
    assert ratio.value == pytest.approx(f1[noisy].mean() / f1[~noisy].mean())
    assert ratio.low == pytest.approx(np.quantile(ratios, 0.025), abs=0.15 * np.std(ratios))
    assert ratio.high == pytest.approx(np.quantile(ratios, 0.975), abs=0.15 * np.std(ratios))


def test_a_missing_interval_has_a_reason(rows) -> None:
    samples, outputs = rows
    evaluation = evaluate(samples, outputs, ["QuantileLatency", "DistinctN", "recall@5"]).systems[0].scores
    few = evaluate(samples[:9], outputs[:9], "TokenF1").systems[0].scores
    for score in (*evaluation.values(), *few.values()):
        assert (score.low, score.high) == (None, None)
        assert score.interval_reason
        assert score.to_dict()["interval_reason"] == score.interval_reason
    enough = evaluate(samples[:10], outputs[:10], "TokenF1").systems[0].scores["TokenF1"]
    assert enough.low is not None
    assert isfinite(enough.low)


def test_slices_are_the_metric_over_their_samples(rows) -> None:
    samples, outputs = rows
    evaluation = evaluate(samples, outputs, ["TokenF1", "bleu"], slices=["tier", "long"]).systems[0]
    assert list(evaluation.slices["tier"]) == ["", "head", "tail"]
    assert list(evaluation.slices["long"]) == ["false", "true"]
    for label, values in evaluation.slices.items():
        assert sum(scores["TokenF1"].result.details["num_samples"] for scores in values.values()) == NUMBER
        for value, scores in values.items():
            one = f"SlicedMetric(TokenF1, slice_label={label}, value='{value}')"
            sliced = evaluate(samples, outputs, one).systems[0].scores.popitem()[1]  # type: ignore[attr-defined]
            assert scores["TokenF1"].value == sliced.value
    with pytest.raises(NotValid, match="tier"):
        evaluate(samples, outputs, "TokenF1", slices=["topic"])


def test_the_results_as_rows_and_data_frames(rows) -> None:
    samples, outputs = rows
    evaluation = evaluate(samples, {"a": outputs, "b": outputs}, ["TokenF1", "MRRAtK"], slices=["tier"])
    assert [system.name for system in evaluation.systems] == ["a", "b"]
    assert len(evaluation.to_rows()) == 2 * 2 * 4
    assert isinstance(evaluation.to_polars(), polars.DataFrame)
    assert isinstance(evaluation.to_pandas(), pandas.DataFrame)
    assert evaluation.to_polars().height == len(evaluation.to_pandas()) == 16
    undefined = [row for row in evaluation.to_rows() if row["metric"] == "MRRAtK"]
    assert {row["value"] for row in undefined} == {None}
    whole = evaluation.to_dict()
    assert whole["samples"] == NUMBER
    assert whole["metrics"]["MRRAtK"]["target"] == "retrieval_accuracy"
    assert len(whole["systems"][0]["per_sample"]) == NUMBER


class Broken(LLMCritic):
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def score(self, *, prompt, metadata=None) -> float:  # type: ignore[no-untyped-def]
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("good", "critic_unparseable"), (None, "critic_unparseable"), (True, "critic_unparseable"),
     (float("nan"), "critic_off_scale"), (float("inf"), "critic_off_scale"), (7, "critic_off_scale"),
     (-0.1, "critic_off_scale")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["LLMFaithfulnessScore(scale='1-5')", "LLMAnswerQuality"])
def test_a_critic_that_gives_no_score_on_its_scale_is_skipped_and_counted(name: str, answer: Any, reason: str) -> None:
    samples = [{"id": "s1", "query": "q"}]
    outputs = [{"id": "s1", "response": "r", "contexts": ["evidence"]}]
    (score,) = evaluate(samples, outputs, name, critic=Broken(answer)).systems[0].scores.values()
    assert (score.value, score.defined, score.result.details["skipped"]) == (0.0, False, {reason: 1})
    with pytest.raises(NotValid, match="Broken raised ValueError: no model"):
        evaluate(samples, outputs, name, critic=Broken(ValueError("no model")))
    with pytest.raises(NotValid, match="critic"):
        evaluate(samples, outputs, name)


def test_a_critic_may_return_numbers_of_numpy() -> None:
    samples, outputs = [{"id": "s1", "query": "q"}], [{"id": "s1", "response": "r"}]
    for answer in (np.float32(4), np.int64(4), np.array(4)):
        (score,) = evaluate(samples, outputs, "LLMAnswerQuality", critic=Broken(answer)).systems[0].scores.values()
        assert (score.value, score.defined) == (0.75, True)


@pytest.mark.parametrize(
    ("named", "match"),
    [
        ({"level": 0}, "level"),
        ({"level": 1}, "level"),
        ({"resamples": 0}, "resamples"),
        ({"metrics": []}, "no metric"),
        ({"metrics": "NoSuchMetric"}, "RecallAtK"),
        ({"outputs": {}}, "no systems"),
        ({"samples": []}, "no samples"),
    ],
)
def test_incomputable_metrics_are_refused(rows, named: dict[str, Any], match: str) -> None:
    given = {"samples": rows[0], "outputs": rows[1], "metrics": "TokenF1"} | named
    with pytest.raises(Exception, match=match) as raised:
        evaluate(**given)
    assert type(raised.value).__name__ in ("NotValid", "UnknownName")
