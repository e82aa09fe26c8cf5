"""Whether a relevant document is among the first k."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.metrics.ranking import relevant_ranks
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class HitRateAtK(SampleMetric):
    """Hit rate at k."""

    target = TargetCategory.RETRIEVAL_RELEVANCE
    title = "Hit rate@k"
    description = "The share of samples with at least one relevant document among the first k."
    formula = "1 if G ∩ R_k is not empty, otherwise 0"
    source = "Auepora metrics specification, 3.1.3"
    example = "HitRateAtK(k=1)"
    differs = (
        "Equals `Success@k` for samples with a relevant document. `Success@k` counts other samples as 0; here "
        "they are skipped."
    )
    pattern = r"hit_rate@(?P<k>\d+)"
    shown = ("k",)
    needs = ("relevant_docs",)

    k: int = option(10, "The number of retrieved documents that count.", minimum=1)

    @property
    def name(self) -> str:
        return f"hit_rate@{self.k}"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """Return the value of a sample."""
        return float(bool(relevant_ranks(sample, output, self.k)))
