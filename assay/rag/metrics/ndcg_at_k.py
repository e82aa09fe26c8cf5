"""Discounted cumulative gain, as a share of the best possible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum, log2

from assay.rag.metric import SampleMetric, option
from assay.rag.metrics.ranking import relevant_ranks
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class NDCGAtK(SampleMetric):
    """nDCG at k with binary relevance and gain 2^rel - 1."""

    target = TargetCategory.RETRIEVAL_ACCURACY
    title = "nDCG@k"
    description = "How close the relevant documents are to the top, relative to the best possible order."
    formula = "Σ_{r ≤ k} (2^rel_r - 1) / log2(r + 1), divided by the same sum with all relevant documents at the top"
    source = "Auepora metrics specification, 3.2.3"
    example = "NDCGAtK(k=3)"
    differs = (
        "`nDCG@k` uses grades, and by default the gain is the grade itself. Here relevance is binary, so the "
        "gain 2^rel - 1 is 1 or 0. Both metrics agree if all grades are 0 or 1, except for samples without a "
        "relevant document: `nDCG@k` counts them as 0; here they are skipped."
    )
    pattern = r"ndcg@(?P<k>\d+)"
    shown = ("k",)
    needs = ("relevant_docs",)

    k: int = option(10, "The number of retrieved documents that count.", minimum=1)
    gain_scheme: str = option("binary", "The gain of a relevant document.", choices=("binary",))

    @property
    def name(self) -> str:
        return f"ndcg@{self.k}"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """Return the value of a sample."""
        ideal = range(1, min(self.k, len(sample.relevant_ids)) + 1)
        return _gain(relevant_ranks(sample, output, self.k)) / _gain(ideal)


def _gain(ranks: Iterable[int]) -> float:
    return fsum((2**1 - 1) / log2(rank + 1) for rank in ranks)
