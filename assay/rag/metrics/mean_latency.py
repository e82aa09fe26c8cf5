"""The mean time of a stage."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metric import SampleMetric, Skip, option
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

    @property
    def name(self) -> str:
        return "mean_latency"

    def required_fields(self) -> list[str]:
        """Return the fields that a sample needs to have a value."""
        return [f"timings.{self.timing_key}"]

    def missing_value(self) -> Skip:
        """Return a skip, because a missing output has no time."""
        return Skip("missing_output")

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float | Skip:
        """Return the value of a sample."""
        return output.timings.get(self.timing_key, Skip("no_timing"))
