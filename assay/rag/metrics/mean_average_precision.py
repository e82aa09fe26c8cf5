"""The mean of the precisions at the ranks of the relevant documents that were retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from assay.rag.metric import SampleMetric, option
from assay.rag.metrics.ranking import relevant_ranks
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class MeanAveragePrecision(SampleMetric):
    """Average precision over the relevant documents that were retrieved."""

    target = TargetCategory.RETRIEVAL_ACCURACY
    title = "MAP"
    description = (
        "The mean precision at the ranks of the retrieved relevant documents; documents not retrieved do not count."
    )
    formula = (
        "mean, over the ranks r of the retrieved relevant documents, of (relevant documents at ranks 1 to r) / "
        "r; 0 if there are none"
    )
    source = "Auepora metrics specification, 3.2.2"
    differs = (
        "`AP` divides by all relevant documents, so that documents not retrieved count as 0. Here the mean is "
        "over the retrieved relevant documents. For example, if one of ten relevant documents is retrieved, at "
        "rank 1, the value is 1.0, and `AP` is 0.1. Read it together with `RecallAtK`."
    )
    pattern = r"map(?:@(?P<k>\d+))?"
    needs = ("relevant_docs",)

    k: int | None = option(None, "The last rank that counts; none for the whole list.", minimum=1)

    @property
    def name(self) -> str:
        return "map" if self.k is None else f"map@{self.k}"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """Return the value of a sample."""
        ranks = relevant_ranks(sample, output, self.k)
        return fsum(count / rank for count, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0
