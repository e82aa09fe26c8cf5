"""Samples and outputs for the tests of RAG metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.rag import Metric, MetricResult, SystemOutputs, parse_metric, read_outputs, read_samples

Row = dict[str, Any]


def result(metric: str | Metric, *cases: tuple[Row, Row | None]) -> MetricResult:
    """Compute a metric over pairs of a sample and an output; None for a missing output that counts as zero."""
    named = [({"sample_id": f"s{at}", "query": "Why?"} | sample, output) for at, (sample, output) in enumerate(cases)]
    samples = read_samples([sample for sample, _ in named])
    outputs = [
        SystemOutputs(sample["sample_id"], missing=True) if output is None else of(sample["sample_id"], output)
        for sample, output in named
    ]
    metric = parse_metric(metric) if isinstance(metric, str) else metric
    return metric.compute(samples, outputs)


def of(sample_id: str, output: Row) -> SystemOutputs:
    """Return the output of a sample."""
    return read_outputs([{"timings": {}} | output | {"sample_id": sample_id}])[0]


def ranked(gold: Iterable[str], retrieved: Iterable[str]) -> tuple[Row, Row]:
    """Return a sample with relevant documents, and an output that retrieved these."""
    return {"relevant_docs": list(gold)}, {"retrieved": list(retrieved)}


def answered(reference: Any, response: Any) -> tuple[Row, Row]:
    """Return a sample with a reference answer, and an output with a response."""
    return {"reference_answer": reference}, {"response": response}
