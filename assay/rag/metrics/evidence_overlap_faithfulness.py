"""The share of the answer's n-grams that the evidence contains."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metric import SampleMetric, Skip, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import EVIDENCE, evidence, ngrams, response_text, tokens


@dataclass(frozen=True)
class EvidenceOverlapFaithfulness(SampleMetric):
    """The share of the answer's n-grams that the evidence contains."""

    target = TargetCategory.GENERATION_FAITHFULNESS
    title = "Evidence overlap"
    description = "The share of the answer's n-grams that the evidence contains; a rough indicator of faithfulness."
    formula = "n-grams of the answer that occur in the evidence / n-grams of the answer"
    source = "Auepora metrics specification, 4.4.1"
    pattern = r"evidence_overlap(?:_(?P<n>\d+))?"
    needs = ("response",)

    n: int = option(1, "The length of the n-grams.", minimum=1, maximum=10)
    evidence_source: str = option("retrieved", "The documents used as evidence.", choices=EVIDENCE)
    top_k: int | None = option(None, "The number of retrieved documents used as evidence; none for all.", minimum=1)

    def required_fields(self) -> list[str]:
        return ["response", "relevant_docs" if self.evidence_source == "relevant" else "retrieved"]

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float | Skip:
        """Return the value of a sample; an answer without n-grams makes no claim and is skipped."""
        texts = evidence(sample, output, self.evidence_source, self.top_k)
        if not texts:
            return Skip("no_evidence")
        words = tokens(response_text(output))
        claimed = list(ngrams(words, self.n))
        if not claimed:
            return Skip("short_answer" if words else "empty_answer")
        known = set(ngrams(tokens(" ".join(texts)), self.n))
        return sum(one in known for one in claimed) / len(claimed)
