"""A metric over noisy queries, as a share of the metric over clean queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.rag.metric import Floats, Metric, MetricResult, Skip, check_pairs, details, option
from assay.rag.metrics.variants import parents
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory

NOISE = ("paraphrase", "typo")


@dataclass(frozen=True)
class NoiseRobustness(Metric):
    """A metric over noisy variants, as a share of the metric over the clean samples."""

    target = TargetCategory.NOISE_ROBUSTNESS
    title = "Noise robustness"
    description = (
        "The share of a metric's value that remains when queries are paraphrased or misspelled; 1 means no loss."
    )
    formula = "metric over noisy variants / metric over samples that are not variants; 0 if the latter is 0 or less"
    source = "Auepora metrics specification, 6.1"
    example = "NoiseRobustness(TokenF1)"
    called = "noise_robustness"

    metric: Metric
    noise_scenarios: tuple[str, ...] = option(NOISE, "The values of the label `scenario` that count as noise.")

    @property
    def name(self) -> str:
        return f"{self.called}({self.metric.name})"

    def required_fields(self) -> list[str]:
        return ["labels.variant_of", "labels.scenario", *self.metric.required_fields()]

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Compute the base metric on both sets, and their ratio."""
        check_pairs(samples, outputs)
        of = parents(samples)
        base = [at for at, parent in enumerate(of) if parent is None]
        noisy = [
            at
            for at, parent in enumerate(of)
            if isinstance(parent, int) and samples[at].labels.get("scenario") in self.noise_scenarios
        ]
        skipped = Counter(parent.reason for parent in of if isinstance(parent, Skip))
        if rest := len(samples) - len(base) - len(noisy) - skipped.total():
            skipped["not_selected"] = rest
        scores = [
            self.metric.compute([samples[at] for at in part], [outputs[at] for at in part]) for part in (base, noisy)
        ]
        clean, noise = scores
        for score in scores:
            skipped.update(score.details["skipped"])
        why = None
        if not (clean.defined and noise.defined):
            which = "samples that are not variants" if not clean.defined else "noisy samples"
            why = f"{self.metric.label} is not defined on the {which}"
        elif clean.value <= 0:
            why = f"{self.metric.label} is {clean.value:g} on the samples that are not variants"
        value = noise.value / clean.value if why is None else 0.0
        number = int(clean.details["num_samples"]) + int(noise.details["num_samples"])
        more = details(number, skipped, why) | {
            "base_score": clean.value,
            "noisy_score": noise.value,
            "num_base": clean.details["num_samples"],
            "num_noisy": noise.details["num_samples"],
            "base": clean.details,
            "noisy": noise.details,
        }
        if why is not None or not (clean.is_mean and noise.is_mean):
            return MetricResult(value, more)
        columns = np.full((len(samples), 2), np.nan)
        for column, (part, score) in enumerate(zip((base, noisy), scores, strict=True)):
            columns[part, column] = [np.nan if one is None else one for one in score.per_sample]
        return MetricResult(value, more, columns=columns, combine=_ratio)


def _ratio(means: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(means[:, 0] > 0, means[:, 1] / means[:, 0], np.nan)
