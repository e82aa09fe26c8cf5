"""A metric over a part of the samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from assay.core.errors import NotValid
from assay.rag.metric import Metric, MetricResult, check_pairs, details, option, part_of
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class SlicedMetric(Metric):
    """A metric over the samples selected by a predicate or a label value."""

    target = TargetCategory.GENERATION_CORRECTNESS
    title = "Sliced metric"
    description = "Any metric over the samples that share a value of a label."
    formula = "the metric over the samples with labels[label] = value"
    source = "Auepora metrics specification, 9.2"
    example = "SlicedMetric(TokenF1, slice_label=topic, value=power)"

    metric: Metric
    slice_label: str = option("", "The label; empty if a predicate selects the samples.")
    value: str = option("", "The value of the label, as text.")
    predicate: Callable[[EvaluationSample], bool] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.slice_label) == (self.predicate is not None):
            raise NotValid("SlicedMetric needs either slice_label and value, or a predicate")

    @property
    def category(self) -> TargetCategory:
        """Return the category of the inner metric."""
        return self.metric.category

    @property
    def name(self) -> str:
        return f"{self.metric.name}[{f'{self.slice_label}={self.value}' if self.slice_label else 'selected'}]"

    def required_fields(self) -> list[str]:
        own = [f"labels.{self.slice_label}"] if self.slice_label else []
        return [*own, *self.metric.required_fields()]

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Compute the metric over the selected samples; the others are counted as ``not_selected``."""
        check_pairs(samples, outputs)
        chosen = [at for at, sample in enumerate(samples) if self._selects(sample)]
        if self.metric.across_samples:
            result = part_of(self.metric.compute(samples, outputs), chosen)
        else:
            result = self.metric.compute([samples[at] for at in chosen], [outputs[at] for at in chosen])
        per_sample: list[float | None] = [None] * len(samples)
        reasons: list[str | None] = ["not_selected"] * len(samples)
        for at, value in zip(chosen, result.per_sample, strict=False):
            per_sample[at] = value
        for at, reason in zip(chosen, result.reasons, strict=False):
            reasons[at] = reason
        columns = result.columns
        if columns is not None:
            spread = np.full((len(samples), columns.shape[1]), np.nan)
            spread[chosen] = columns
            columns = spread
        rest = len(samples) - len(chosen)
        skipped = Counter(result.details["skipped"])
        if rest:
            skipped["not_selected"] += rest
        about = result.details | details(result.details["num_samples"], skipped, result.details["reason"])
        about |= {"num_selected": len(chosen), "num_not_selected": rest}
        if not chosen:
            about["reason"] = "no sample is selected"
        return replace(
            result,
            details=about,
            per_sample=tuple(per_sample) if result.per_sample else (),
            reasons=tuple(reasons) if result.reasons else (),
            columns=columns,
        )

    def _selects(self, sample: EvaluationSample) -> bool:
        if self.predicate is not None:
            return bool(self.predicate(sample))
        return label_text(sample.labels.get(self.slice_label)) == self.value


def label_text(value: object) -> str:
    """Format the value of a label: true and false as in JSON, None as an empty string."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
