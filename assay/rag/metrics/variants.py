"""Metrics over samples that are variants of others: noise robustness and counterfactual consistency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.errors import NotValid
from assay.rag.metric import Floats, Metric, MetricResult, Skip, check_pairs, details, mean_result, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import response_text


def parents(samples: Sequence[EvaluationSample]) -> list[int | Skip | None]:
    """Return for each variant the position of its base sample, None for a base sample. A variant whose parent does
    not exist, or whose chain of parents is circular, is a `Skip`.
    """
    place = {sample.sample_id: at for at, sample in enumerate(samples)}
    labels = (sample.labels.get("variant_of") for sample in samples)
    named = [None if label is None else str(label) for label in labels]
    ending = _ending(named, place)
    result: list[int | Skip | None] = []
    for at, parent in enumerate(named):
        if parent is None:
            result.append(None)
        elif parent not in place:
            result.append(Skip("unknown_parent"))
        else:
            result.append(place[parent] if at in ending else Skip("circular_variant"))
    return result


def _ending(named: Sequence[str | None], place: dict[str, int]) -> set[int]:
    """Return the positions whose chain of parents ends, starting from the ends, so that each position is visited
    once."""
    children: dict[int, list[int]] = {}
    ends = []
    for at, parent in enumerate(named):
        if parent in place:
            children.setdefault(place[parent], []).append(at)
        else:
            ends.append(at)
    for at in ends:
        ends += children.get(at, ())
    return set(ends)


NOISE = ("paraphrase", "typo")


@dataclass(frozen=True)
class NoiseRobustness(Metric):
    """A metric over noisy variants, as a share of the metric over the clean samples."""

    target = TargetCategory.NOISE_ROBUSTNESS
    title = "Noise robustness"
    description = "The share of a metric that remains when queries are paraphrased or misspelled; 1 means no loss."
    formula = (
        "metric over noisy variants / metric over samples that are not variants; 0 where the latter is not above 0"
    )
    source = "Auepora metrics specification, 6.1"
    example = "NoiseRobustness(TokenF1)"
    called = "noise_robustness"

    metric: Metric
    noise_scenarios: tuple[str, ...] = option(NOISE, "Values of the label `scenario` that are noise.")

    @property
    def name(self) -> str:
        return f"{self.called}({self.metric.name})"

    def required_fields(self) -> list[str]:
        """Return the fields that a sample needs to have a value."""
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


@dataclass(frozen=True)
class CounterfactualConsistency(Metric):
    """The mean similarity of the answers to counterfactual variants and to their base samples."""

    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    title = "Counterfactual consistency"
    description = "How similar the answer to a counterfactual variant is to the answer to its base sample."
    formula = "mean over pairs of a similarity metric, with the base sample's answer as the reference"
    source = "Auepora metrics specification, 6.3"
    example = "CounterfactualConsistency(TokenF1)"
    called = "counterfactual_consistency"
    across_samples = True

    metric: Metric
    scenario: str = option("counterfactual", "The value of the label `scenario` that marks the variants.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if "reference_answer" not in self.metric.required_fields():
            what = f"CounterfactualConsistency compares two answers, and {self.metric.label} has no reference answer"
            raise NotValid(f"{what}; use a metric such as TokenF1 or EmbeddingSimilarity")

    @property
    def name(self) -> str:
        return f"{self.called}({self.metric.name})"

    def required_fields(self) -> list[str]:
        """Return the fields that a sample needs to have a value."""
        return ["labels.variant_of", "labels.scenario", "response"]

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Compare the answer of each counterfactual variant with that of its base sample."""
        check_pairs(samples, outputs)
        values: list[float | Skip] = []
        pairs: list[tuple[int, int]] = []
        for at, (sample, parent) in enumerate(zip(samples, parents(samples), strict=True)):
            similarity: float | Skip = 0.0
            if parent is None or sample.labels.get("scenario") != self.scenario:
                similarity = Skip("not_selected")
            elif isinstance(parent, Skip):
                similarity = parent
            elif outputs[at].missing or outputs[parent].missing:
                similarity = 0.0
            elif outputs[at].response is None or outputs[parent].response is None:
                similarity = Skip("no_response")
            elif not response_text(outputs[parent]).strip():
                similarity = Skip("empty_answer")
            else:
                pairs.append((at, parent))
            values.append(similarity)
        compared = [
            replace(samples[at], reference_answer=outputs[parent].response, further_answers=()) for at, parent in pairs
        ]
        result = self.metric.compute(compared, [outputs[at] for at, _ in pairs])
        if pairs and not result.is_mean:
            raise NotValid(f"CounterfactualConsistency needs a value for each pair, and {self.metric.label} has none")
        reasons = result.reasons or ("no_response",) * len(pairs)
        for (at, _), value, reason in zip(pairs, result.per_sample, reasons, strict=True):
            values[at] = Skip(reason or "no_response") if value is None else value
        return mean_result(values, {"num_pairs": len(pairs)})
