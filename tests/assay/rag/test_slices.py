"""Slices say what the metric says of the samples alone."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from assay.rag import evaluate
from assay.rag.evaluation import DEFAULT

WORDS = ["tent", "rope", "seal", "lamp", "two", "dry", "the", "I", "don't", "know"]


def made(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    draw = Random(seed)
    samples = [
        {
            "sample_id": f"s{at:02}",
            "query": "?",
            "reference_answer": " ".join(draw.choices(WORDS, k=3)) if at % 7 else None,
            "relevant_docs": draw.sample(["d1", "d2", "d3"], k=draw.randrange(3)),
            "labels": {"part": draw.choice("ab"), **({"scenario": "unanswerable"} if at % 5 == 0 else {})},
        }
        for at in range(40)
    ]
    outputs = [
        {
            "sample_id": one["sample_id"],
            "retrieved": [{"doc_id": doc, "text": " ".join(draw.choices(WORDS, k=4))} for doc in ("d1", "d4")],
            "response": " ".join(draw.choices(WORDS, k=draw.randrange(4))),
            "timings": {"end_to_end": draw.random()} if draw.random() < 0.8 else {},
        }
        for one in samples
    ]
    return samples, outputs


@pytest.mark.parametrize("metric", [*DEFAULT, "BleuScore", "SlicedMetric(TokenF1, slice_label=part, value=a)"])
def test_slice_is_the_metric_of_its_samples(metric: str) -> None:
    samples, outputs = made(3)
    whole = evaluate(samples, outputs, metric, slices=["part"], resamples=200).systems[0]
    for value in "ab":
        part = [one for one in samples if one["labels"]["part"] == value]
        ids = {one["sample_id"] for one in part}
        alone = evaluate(part, [one for one in outputs if one["sample_id"] in ids], metric, resamples=200).systems[0]
        (result,), (expected,) = whole.slices["part"][value].values(), alone.scores.values()
        assert (result.value, result.low, result.high) == (expected.value, expected.low, expected.high)
        counted = ("num_samples", "num_skipped", "defined") if "Sliced" not in metric else ("num_samples",)
        assert [result.result.details[key] for key in counted] == [expected.result.details[key] for key in counted]
