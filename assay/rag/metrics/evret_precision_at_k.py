"""Precision at k that divides by k."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.metrics.ranking import distinct_relevant
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class EvretPrecisionAtK(SampleMetric):
    """Precision at k as defined by Evret."""

    target = TargetCategory.RETRIEVAL_RELEVANCE
    title = "Precision@k (Evret)"
    description = (
        "The share of the first k positions that contain a relevant document, including positions that are empty."
    )
    formula = "|G ∩ R_k| / k"
    source = "Evret, judge design"
    example = "EvretPrecisionAtK(k=5)"
    differs = (
        "Equals `P@k` for samples with a relevant document. `P@k` counts other samples as 0; here they are skipped."
    )
    pattern = r"evret_precision@(?P<k>\d+)"
    shown = ("k",)
    needs = ("relevant_docs",)

    k: int = option(10, "The number of positions.", minimum=1)

    @property
    def name(self) -> str:
        return f"evret_precision@{self.k}"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """Return the value of a sample."""
        return distinct_relevant(sample, output, self.k) / self.k
