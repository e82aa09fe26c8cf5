"""The F1 of the words that the answer shares with a reference answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.text import response_text, words


@dataclass(frozen=True)
class TokenF1(SampleMetric):
    """Token F1 with the closest reference answer."""

    target = TargetCategory.GENERATION_CORRECTNESS
    title = "Token F1"
    description = "How many words the answer shares with the closest reference answer; order does not matter."
    formula = "2 P R / (P + R), P and R the shared words (with multiplicity) over those of the answer and the reference"
    source = "Auepora metrics specification, 4.1.2; Rajpurkar et al. 2016"
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
        answer = self._words(response_text(output))
        return max(_f1(answer, self._words(text)) for text in sample.references)

    def _words(self, text: str) -> list[str]:
        return words(text, case=self.ignore_case, punctuation=self.ignore_punctuation, articles=self.ignore_articles)


def _f1(answer: list[str], reference: list[str]) -> float:
    if not answer or not reference:
        # SQuAD's rule: an answer without words is right where the reference has none either.
        return float(answer == reference)
    return 2 * (Counter(answer) & Counter(reference)).total() / (len(answer) + len(reference))
