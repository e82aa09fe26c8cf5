"""The F1 of the words that the answer shares with a reference answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.text import answer_words


@dataclass(frozen=True)
class TokenF1(SampleMetric):
    """Token F1 with the closest reference answer."""

    target = TargetCategory.GENERATION_CORRECTNESS
    title = "Token F1"
    description = "How many words the answer shares with the closest reference answer; order does not matter."
    formula = "2 P R / (P + R), P and R the shared words (with multiplicity) over those of the answer and the reference"
    source = "Auepora metrics specification, 4.1.2; Rajpurkar et al. 2016"
    differs = (
        "The text metric `token_f1` of judges takes a sample without accepted answers for a question without an "
        "answer; here it is skipped. The specification has 0 where either side has no words; SQuAD, and this "
        "metric, have 1 where both have none."
    )
    pattern = "token_f1"
    needs = ("reference_answer", "response")

    ignore_case: bool = option(True, "Compare in lower case.")
    ignore_punctuation: bool = option(True, "Remove ASCII punctuation.")
    ignore_articles: bool = option(True, "Remove a, an and the.")

    @property
    def name(self) -> str:
        return "token_f1"

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """The value of one sample."""
        answer, accepted = answer_words(sample, output, self.ignore_case, self.ignore_punctuation, self.ignore_articles)
        return max(_f1(answer, reference) for reference in accepted)


def _f1(answer: list[str], reference: list[str]) -> float:
    if not answer or not reference:
        # SQuAD's rule: an answer without words is right where the reference has none either.
        return float(answer == reference)
    return 2 * (Counter(answer) & Counter(reference)).total() / (len(answer) + len(reference))
