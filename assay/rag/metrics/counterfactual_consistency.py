"""Similarity of the answers to a question and to its counterfactual variant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.core.errors import NotValid
from assay.rag.metric import Metric, MetricResult, Skip, check_pairs, mean_result, option
from assay.rag.metrics.variants import parents
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import response_text


@dataclass(frozen=True)
class CounterfactualConsistency(Metric):
    """The mean similarity of the answers to counterfactual variants and to their base samples."""

    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    title = "Counterfactual consistency"
    description = "How similar the answer to a counterfactual variant is to the answer to its base sample."
    formula = "mean of a similarity metric over pairs of answers, with the base sample's answer as the reference"
    source = "Auepora metrics specification, 6.3"
    example = "CounterfactualConsistency(TokenF1)"
    called = "counterfactual_consistency"
    across_samples = True

    metric: Metric
    scenario: str = option("counterfactual", "The value of the label `scenario` that marks the variants.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if "reference_answer" not in self.metric.required_fields():
            what = f"CounterfactualConsistency compares two answers, but {self.metric.label} has no reference answer"
            raise NotValid(f"{what}; use a metric such as TokenF1 or EmbeddingSimilarity")

    @property
    def name(self) -> str:
        return f"{self.called}({self.metric.name})"

    def required_fields(self) -> list[str]:
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
            raise NotValid(f"CounterfactualConsistency needs a value for each pair, but {self.metric.label} has none")
        reasons = result.reasons or ("no_response",) * len(pairs)
        for (at, _), value, reason in zip(pairs, result.per_sample, reasons, strict=True):
            values[at] = Skip(reason or "no_response") if value is None else value
        return mean_result(values, {"num_pairs": len(pairs)})
