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
    description = "The share of k positions that contain a relevant document; empty positions of a short list count."
    formula = "|G ∩ R_k| / k"
    source = "Evret, judge design"
    example = "EvretPrecisionAtK(k=5)"
    differs = (
        "The same as `P@k` for samples with a relevant document; `P@k` counts the others as 0, here they are skipped."
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
