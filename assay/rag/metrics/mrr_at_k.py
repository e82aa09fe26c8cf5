"""The reciprocal rank of the first relevant document."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.metrics.ranking import relevant_ranks
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class MRRAtK(SampleMetric):
    """Mean reciprocal rank, over the whole list or down to rank k."""

    target = TargetCategory.RETRIEVAL_ACCURACY
    title = "MRR@k"
    description = "1 / rank of the first relevant document; 0 if there is none."
    formula = "1 / rank of the first document of G at ranks 1 to k; 0 if there is none"
    source = "Auepora metrics specification, 3.2.1"
    differs = (
        "Equals `RR@k` for samples with a relevant document. `RR@k` counts other samples as 0; here they are skipped."
    )
    pattern = r"mrr(?:@(?P<k>\d+))?"
    needs = ("relevant_docs",)

    k: int | None = option(None, "The last rank that counts; none for the whole list.", minimum=1)

    @property
    def name(self) -> str:
        return "mrr" if self.k is None else f"mrr@{self.k}"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """Return the value of a sample."""
        ranks = relevant_ranks(sample, output, self.k)
        return 1 / ranks[0] if ranks else 0.0
