"""Whether the answer equals a reference answer."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.text import answer_words


@dataclass(frozen=True)
class ExactMatch(SampleMetric):
    """Exact match after normalizing."""

    target = TargetCategory.GENERATION_CORRECTNESS
    title = "Exact match"
    description = (
        "The share of answers that equal a reference answer, after case, punctuation and articles are removed."
    )
    formula = "1 where the normalized answer equals a normalized reference answer, else 0"
    source = "Auepora metrics specification, 4.1.1; Rajpurkar et al. 2016"
    differs = (
        "The text metric `exact_match` of judges takes a sample without accepted answers for a question without an "
        "answer; here it is skipped, and `NegativeRejectionRate` is about such questions."
    )
    pattern = "exact_match"
    needs = ("reference_answer", "response")

    ignore_case: bool = option(True, "Compare in lower case.")
    ignore_punctuation: bool = option(True, "Remove ASCII punctuation.")
    ignore_articles: bool = option(True, "Remove a, an and the.")

    @property
    def name(self) -> str:
        return "exact_match"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """The value of one sample."""
        answer, accepted = answer_words(sample, output, self.ignore_case, self.ignore_punctuation, self.ignore_articles)
        return float(answer in accepted)
