"""The share of the relevant documents among the first k."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.metrics.ranking import distinct_relevant
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class RecallAtK(SampleMetric):
    """Recall at k."""

    target = TargetCategory.RETRIEVAL_RELEVANCE
    title = "Recall@k"
    description = "The share of the relevant documents that are among the first k."
    formula = "|G ∩ R_k| / |G|, where G is the set of relevant documents and R_k the first k retrieved"
    source = "Auepora metrics specification, 3.1.1"
    example = "RecallAtK(k=2)"
    differs = "`R@k` counts a query without relevant documents as 0; here such a sample is skipped."
    pattern = r"recall@(?P<k>\d+)"
    shown = ("k",)
    needs = ("relevant_docs",)

    k: int = option(10, "The number of retrieved documents that count.", minimum=1)

    @property
    def name(self) -> str:
        return f"recall@{self.k}"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """Return the value of a sample."""
        return distinct_relevant(sample, output, self.k) / len(sample.relevant_ids)
