"""The mean time of a stage, and a quantile of its time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.rag.metric import Metric, MetricResult, SampleMetric, Skip, check_pairs, counts, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class MeanLatency(SampleMetric):
    """The mean of a timing, in the unit of the timings."""

    target = TargetCategory.LATENCY
    title = "Mean latency"
    description = "The mean time of a stage, in the unit of the timings (seconds by convention)."
    formula = "mean of timings[timing_key]"
    source = "Auepora metrics specification, 7.1.1"
    pattern = "mean_latency"
    higher_is_better = False

    timing_key: str = option("end_to_end", "The stage.")

    def required_fields(self) -> list[str]:
        return [f"timings.{self.timing_key}"]

    def missing_value(self) -> Skip:
        """Return a skip, because a missing output has no time."""
        return Skip("missing_output")

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float | Skip:
        return output.timings.get(self.timing_key, Skip("no_timing"))


@dataclass(frozen=True)
class QuantileLatency(Metric):
    """The time within which a share of the samples was answered."""

    target = TargetCategory.LATENCY
    title = "Latency quantile"
    description = "The time within which a given share of the samples was answered, in the unit of the timings."
    formula = "the timing at position ceil(q n), counted from 1, of the n timings in ascending order"
    source = "Auepora metrics specification, 7.1.2"
    pattern = r"quantile_latency@(?P<quantile>[01]?\.\d+|1)"
    higher_is_better = False
    shown = ("quantile",)

    quantile: float = option(0.95, "The share of the samples.", minimum=1e-9, maximum=1)
    timing_key: str = option("end_to_end", "The stage.")

    def required_fields(self) -> list[str]:
        return [f"timings.{self.timing_key}"]

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Compute the quantile of the available timings."""
        check_pairs(samples, outputs)
        values = MeanLatency(self.timing_key).values(samples, outputs)
        per_sample = tuple(None if isinstance(value, Skip) else value for value in values)
        known = sorted(value for value in per_sample if value is not None)
        # 0.07 * 100 is a little more than 7 in floating point.
        place = math.ceil(round(self.quantile * len(known), 9)) - 1
        details = counts(values) | {"quantile": self.quantile}
        return MetricResult(known[place] if known else 0.0, details, per_sample)
