"""The share of the first k documents that are relevant."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.metrics.ranking import distinct_relevant
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class PrecisionAtK(SampleMetric):
    """Precision at k, over the number of retrieved documents."""

    target = TargetCategory.RETRIEVAL_RELEVANCE
    title = "Precision@k"
    description = "The share of the first k retrieved documents that are relevant; a shorter list is not penalized."
    formula = "|G ∩ R_k| / min(k, |R|); 0 if nothing was retrieved"
    source = "Auepora metrics specification, 3.1.2"
    example = "PrecisionAtK(k=5)"
    differs = (
        "`P@k` divides by k, so a list of 3 documents has at most P@5 = 0.6. A RAG system may retrieve fewer than k "
        "documents on purpose; here only the retrieved documents count. `EvretPrecisionAtK` divides by k."
    )
    pattern = r"precision@(?P<k>\d+)"
    shown = ("k",)
    needs = ("relevant_docs",)

    k: int = option(10, "The number of retrieved documents that count.", minimum=1)

    @property
    def name(self) -> str:
        return f"precision@{self.k}"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """Return the value of a sample."""
        return distinct_relevant(sample, output, self.k) / max(1, min(self.k, len(output.retrieved)))
