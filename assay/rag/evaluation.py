"""Evaluation of RAG systems: every metric of every system, with intervals, by slice and by sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import NotValid
from assay.core.result import Result
from assay.core.text_rules import amount
from assay.rag.critic import LLMCritic, Remembering
from assay.rag.metric import REASONS, Metric, MetricResult, Skip, part_of
from assay.rag.metric_names import asking, parse_metrics, with_services
from assay.rag.metrics.sliced_metric import label_text
from assay.rag.metrics.variants import parents
from assay.rag.reader import Aligned, Missing, align, read_outputs, read_samples
from assay.rag.records import EvaluationSample

# Default metrics: a selection that needs no model. Metrics with nothing to measure report this.
DEFAULT = (
    "RecallAtK(k=10)",
    "PrecisionAtK(k=10)",
    "HitRateAtK(k=10)",
    "MRRAtK",
    "NDCGAtK(k=10)",
    "ExactMatch",
    "TokenF1",
    "RougeL",
    "EvidenceOverlapFaithfulness",
    "NegativeRejectionRate",
    "MeanLatency",
    "QuantileLatency",
    "DistinctN",
)
LEVEL, RESAMPLES = 0.95, 10_000
FEWEST = 10


@dataclass(frozen=True)
class Score:
    """The value of a metric, with its interval.

    Parameters
    ----------
    value : float
        The value; 0.0 if undefined.
    low, high : float or None
        The bootstrap interval over samples; None exactly if ``interval_reason`` is set.
    interval_reason : str or None
        Why there is no interval.
    result : MetricResult
        The counts and the values of the samples.
    """

    value: float
    low: float | None
    high: float | None
    interval_reason: str | None
    result: MetricResult

    @property
    def defined(self) -> bool:
        """Return whether the metric is defined."""
        return self.result.defined

    def to_dict(self) -> dict[str, Any]:
        why = {} if self.interval_reason is None else {"interval_reason": self.interval_reason}
        return {"value": self.value, "low": self.low, "high": self.high, **why, "details": self.result.details}


@dataclass(frozen=True)
class SystemScores:
    """All scores of a system.

    Parameters
    ----------
    name : str
        The system.
    scores : mapping of str to Score
        Scores by metric label.
    slices : mapping of str to mapping
        Scores over the samples with each value of each label.
    aligned : Aligned
        The samples that count, with their outputs.
    """

    name: str
    scores: Mapping[str, Score]
    slices: Mapping[str, Mapping[str, Mapping[str, Score]]]
    aligned: Aligned

    def per_sample_of(self, label: str) -> dict[str, float | None]:
        """Return the value of each sample for one metric."""
        values = self.scores[label].result.per_sample
        return {sample.sample_id: value for sample, value in zip(self.aligned.samples, values, strict=False)}

    def per_sample(self) -> dict[str, dict[str, float | None]]:
        """Return the values of each sample, for metrics that have such values."""
        rows: dict[str, dict[str, float | None]] = {sample.sample_id: {} for sample in self.aligned.samples}
        for label, score in self.scores.items():
            for sample, value in zip(self.aligned.samples, score.result.per_sample, strict=False):
                rows[sample.sample_id][label] = value
        return rows


@dataclass(frozen=True)
class RagEvaluation(Result):
    """Result of `evaluate`.

    Parameters
    ----------
    systems : tuple of SystemScores
        The systems in the given order.
    metrics : tuple of Metric
        The metrics in the given order.
    samples : tuple of EvaluationSample
        All samples.
    missing : str
        How samples without an output were treated.
    level, resamples, seed : float, int, int
        Level, resamples and seed of the intervals.
    """

    systems: tuple[SystemScores, ...]
    metrics: tuple[Metric, ...]
    samples: tuple[EvaluationSample, ...]
    missing: str
    level: float
    resamples: int
    seed: int
    notes: tuple[str, ...] = field(default=())

    def to_dict(self, *, per_sample: bool = True) -> dict[str, Any]:
        """Return the content of ``assay rag --format json``."""
        return {
            "samples": len(self.samples),
            "settings": {
                "missing": self.missing,
                "level": self.level,
                "resamples": self.resamples,
                "seed": self.seed,
            },
            "metrics": {
                metric.label: {"name": metric.name, "title": metric.title, "target": metric.category.value}
                for metric in self.metrics
            },
            "systems": [
                {
                    "name": system.name,
                    "samples": len(system.aligned.samples),
                    "missing": list(system.aligned.missing),
                    "unmatched": list(system.aligned.extra),
                    "metrics": {label: score.to_dict() for label, score in system.scores.items()},
                    "slices": {
                        label: {
                            value: {name: score.to_dict() for name, score in scores.items()}
                            for value, scores in values.items()
                        }
                        for label, values in system.slices.items()
                    },
                    **({"per_sample": system.per_sample()} if per_sample else {}),
                }
                for system in self.systems
            ],
            "notes": list(self.notes),
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each system, slice and metric; the slice of all samples is empty."""
        rows = []
        for system in self.systems:
            parts = [("", "", system.scores)]
            parts += [
                (name, value, scores) for name, values in system.slices.items() for value, scores in values.items()
            ]
            for slice_label, slice_value, scores in parts:
                for label, score in scores.items():
                    rows.append(
                        {
                            "system": system.name,
                            "slice": slice_label,
                            "slice_value": slice_value,
                            "metric": label,
                            "value": score.value if score.defined else None,
                            "low": score.low,
                            "high": score.high,
                            "num_samples": score.result.details["num_samples"],
                            "num_skipped": score.result.details["num_skipped"],
                            "reason": score.result.details["reason"],
                        }
                    )
        return rows


def evaluate(
    samples: Any,
    outputs: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    missing: Missing = "error",
    slices: Sequence[str] = (),
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    critic: Any = None,
    embed_fn: Any = None,
) -> RagEvaluation:
    """Evaluate one or several RAG systems.

    Parameters
    ----------
    samples : path, list of dict, list of EvaluationSample, or DataFrame
        The test cases, in any form that `read_samples` accepts.
    outputs : the same for one system, or a mapping of system name to outputs
        The outputs of each system, in any form that `read_outputs` accepts. They are matched with the samples by id.
    metrics : str, Metric, or iterable of them
        Names that `parse_metric` accepts; by default a selection that needs no model.
    missing : {"error", "skip", "zero"}
        How to treat a sample without an output.
    slices : sequence of str
        Labels; every metric is also computed over the samples of each value.
    level, resamples, seed : float, int, int
        Level, resamples and seed of the bootstrap intervals over samples.
    critic : LLMCritic, optional
        The critic, for metrics that call a model.
    embed_fn : callable, optional
        ``embed_fn(list of str) -> vectors``, for metrics that compare embeddings.

    Returns
    -------
    RagEvaluation
        A score for each system and metric.

    Raises
    ------
    NotValid
        When an input cannot be used; the message names it and the fix.
    UnreadableInput
        When a file cannot be read.

    Examples
    --------
    >>> samples = [{"id": "s1", "question": "Where?", "ground_truth": "in the box"}]
    >>> found = evaluate(samples, [{"id": "s1", "answer": "In the box."}], ["ExactMatch", "TokenF1"])
    >>> found.systems[0].scores["ExactMatch"].value
    1.0
    """
    if not 0 < level < 1:
        raise NotValid(f"the level is {level:g}; use a number between 0 and 1")
    if resamples < 1:
        raise NotValid(f"resamples is {resamples}; use 1 or more")
    critic = Remembering(critic) if isinstance(critic, LLMCritic) else critic
    chosen = _metrics(metrics, {"critic": critic, "embed_fn": embed_fn})
    cases = read_samples(samples)
    if not cases:
        raise NotValid("there are no samples; add at least one sample")
    _check_slices(cases, slices)
    systems, notes = [], _odd_variants(cases)
    for name, given in _systems(outputs):
        aligned = align(cases, read_outputs(given), missing, name)
        if aligned.missing:
            lacking = f"{amount(len(aligned.missing), 'sample')} without an output"
            notes.append(f"{name}: left out {lacking}" if missing == "skip" else f"{name}: counted {lacking} as 0")
        if aligned.extra:
            notes.append(f"{name}: left out {amount(len(aligned.extra), 'output')} without a sample")
        results = [metric.compute(aligned.samples, aligned.outputs) for metric in chosen]
        scores = _scores(chosen, results, level, resamples, seed)
        parts = _slices(chosen, aligned, scores, slices, level, resamples, seed)
        systems.append(SystemScores(name, scores, parts, aligned))
    return RagEvaluation(tuple(systems), tuple(chosen), tuple(cases), missing, level, resamples, seed, tuple(notes))


def _odd_variants(samples: Sequence[EvaluationSample]) -> list[str]:
    """Count the variants whose parent cannot be used, which metrics over variants leave out."""
    reasons = Counter(parent.reason for parent in parents(samples) if isinstance(parent, Skip))
    return [
        f"metrics over variants leave out {amount(count, 'sample')}: {REASONS[reason]}"
        for reason, count in reasons.items()
    ]


def _metrics(given: str | Metric | Iterable[str | Metric], services: Mapping[str, Any]) -> list[Metric]:
    many = [given] if isinstance(given, str | Metric) else list(given)
    metrics: dict[str, Metric] = {}
    for one in many:
        for metric in parse_metrics([one], services) if isinstance(one, str) else [with_services(one, services)]:
            metrics.setdefault(metric.label, metric)
    if not metrics:
        raise NotValid("no metric was named; write a metric such as TokenF1")
    for metric in metrics.values():
        _check_critic(metric)
    return list(metrics.values())


def _check_critic(metric: Metric) -> None:
    one = asking(metric)
    if one is not None and getattr(one, "critic", None) is None:
        raise NotValid(f"{type(one).__name__} needs a critic; choose a model with --model, or pass critic=")


def _systems(outputs: Any) -> list[tuple[str, Any]]:
    if isinstance(outputs, Mapping):
        if not outputs:
            raise NotValid("there are no systems; add the outputs of at least one system")
        return [(str(name), given) for name, given in outputs.items()]
    if isinstance(outputs, str | Path):
        from assay.core.run import stem

        return [(stem(str(outputs)), outputs)]
    return [("system", outputs)]


def _check_slices(samples: Sequence[EvaluationSample], slices: Sequence[str]) -> None:
    known = dict.fromkeys(label for sample in samples for label in sample.labels)
    for label in slices:
        if label not in known:
            raise NotValid(f"no sample has the label {label!r}; labels: {', '.join(known) or 'none'}")


def _slices(
    metrics: Sequence[Metric],
    aligned: Aligned,
    whole: Mapping[str, Score],
    slices: Sequence[str],
    level: float,
    resamples: int,
    seed: int,
) -> dict[str, dict[str, dict[str, Score]]]:
    scores: dict[str, dict[str, dict[str, Score]]] = {}
    for label in slices:
        places: dict[str, list[int]] = {}
        for at, sample in enumerate(aligned.samples):
            places.setdefault(label_text(sample.labels.get(label)), []).append(at)
        scores[label] = {}
        for value, part in sorted(places.items()):
            samples, outputs = [aligned.samples[at] for at in part], [aligned.outputs[at] for at in part]
            # Compute the mean from existing values, so that no model runs again.
            results = [
                part_of(result, part) if result.is_mean and result.reasons else metric.compute(samples, outputs)
                for metric, result in ((metric, whole[metric.label].result) for metric in metrics)
            ]
            scores[label][value] = _scores(metrics, results, level, resamples, seed)
    return scores


def _scores(
    metrics: Sequence[Metric], results: Sequence[MetricResult], level: float, resamples: int, seed: int
) -> dict[str, Score]:
    ends = _intervals(results, level, resamples, seed)
    return {
        metric.label: Score(result.value, *end, result)
        for metric, result, end in zip(metrics, results, ends, strict=True)
    }


def _intervals(
    results: Sequence[MetricResult], level: float, resamples: int, seed: int
) -> list[tuple[float | None, float | None, str | None]]:
    """Compute percentile bootstrap intervals over samples; all metrics share the draws."""
    from assay.scoring.intervals import resampled_means

    whole = [result.columns for result in results if _why_none(result) is None]
    columns = np.hstack([one for one in whole if one is not None]) if whole else np.zeros((0, 0))
    means = np.zeros((0, 0))
    if len(columns):
        centers = np.array([np.nanmean(column) if not np.isnan(column).all() else 0.0 for column in columns.T])
        ones, strata = np.ones(len(columns)), [np.arange(len(columns))]
        means = resampled_means(columns, centers, ones, strata, resamples=resamples, seed=seed)
    intervals: list[tuple[float | None, float | None, str | None]] = []
    begin = 0
    for result in results:
        if (why := _why_none(result)) is not None:
            intervals.append((None, None, why))
            continue
        width = 0 if result.columns is None else result.columns.shape[1]
        own = means[:, begin : begin + width]
        begin += width
        values = own[:, 0] if result.combine is None else result.combine(own)
        values = values[np.isfinite(values)]
        if not len(values):
            intervals.append((None, None, "no resample has a value"))
            continue
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        intervals.append((float(low), float(high), None))
    return intervals


def _why_none(result: MetricResult) -> str | None:
    if not result.defined:
        return "not measured"
    if result.columns is None:
        return "not a mean over samples"
    if result.details["num_samples"] < FEWEST:
        return f"fewer than {FEWEST} samples"
    return None
