"""Metrics of the ranking of the retrieved documents, counting each document once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum, log2

from assay.rag.metric import SampleMetric, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory


def relevant_ranks(sample: EvaluationSample, output: SystemOutputs, k: int | None) -> list[int]:
    """Return the ranks, from 1 to k, at which each relevant document first appears."""
    gold = set(sample.relevant_ids)
    ranks = []
    for rank, retrieved in enumerate(output.retrieved[:k], 1):
        if retrieved.doc.doc_id in gold:
            gold.remove(retrieved.doc.doc_id)
            ranks.append(rank)
    return ranks


@dataclass(frozen=True)
class RankingMetric(SampleMetric):
    """The base class of metrics of the first k retrieved documents."""

    target = TargetCategory.RETRIEVAL_RELEVANCE
    shown = ("k",)
    needs = ("relevant_docs",)

    k: int = option(10, "The number of retrieved documents that count.", minimum=1)


@dataclass(frozen=True)
class RecallAtK(RankingMetric):
    """Recall at k."""

    title = "Recall@k"
    description = "The share of the relevant documents that are among the first k."
    formula = "|G ∩ R_k| / |G|, where G is the set of relevant documents and R_k the first k retrieved"
    source = "Auepora metrics specification, 3.1.1"
    example = "RecallAtK(k=2)"
    differs = "`R@k` counts a query without relevant documents as 0; here such a sample is skipped."
    pattern = r"recall@(?P<k>\d+)"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        return len(relevant_ranks(sample, output, self.k)) / len(sample.relevant_ids)


@dataclass(frozen=True)
class PrecisionAtK(RankingMetric):
    """Precision at k, over the number of retrieved documents."""

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

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        return len(relevant_ranks(sample, output, self.k)) / max(1, min(self.k, len(output.retrieved)))


@dataclass(frozen=True)
class EvretPrecisionAtK(RankingMetric):
    """Precision at k as defined by Evret."""

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

    k: int = option(10, "The number of positions.", minimum=1)

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        return len(relevant_ranks(sample, output, self.k)) / self.k


@dataclass(frozen=True)
class HitRateAtK(RankingMetric):
    """Hit rate at k."""

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

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        return float(bool(relevant_ranks(sample, output, self.k)))


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
    needs = ("relevant_docs",)
    pattern = r"mrr(?:@(?P<k>\d+))?"

    k: int | None = option(None, "The last rank that counts; none for the whole list.", minimum=1)

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        ranks = relevant_ranks(sample, output, self.k)
        return 1 / ranks[0] if ranks else 0.0


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
    needs = ("relevant_docs",)
    pattern = r"map(?:@(?P<k>\d+))?"

    k: int | None = option(None, "The last rank that counts; none for the whole list.", minimum=1)

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        ranks = relevant_ranks(sample, output, self.k)
        return fsum(count / rank for count, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


@dataclass(frozen=True)
class NDCGAtK(RankingMetric):
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

    gain_scheme: str = option("binary", "The gain of a relevant document.", choices=("binary",))

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        ideal = range(1, min(self.k, len(sample.relevant_ids)) + 1)
        return _gain(relevant_ranks(sample, output, self.k)) / _gain(ideal)


def _gain(ranks: Iterable[int]) -> float:
    return fsum((2**1 - 1) / log2(rank + 1) for rank in ranks)
