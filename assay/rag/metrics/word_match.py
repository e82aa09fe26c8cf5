"""The base class of metrics that compare the words of the answer and of a reference answer by the rule of SQuAD."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import response_text, words


@dataclass(frozen=True)
class WordMatch(SampleMetric):
    """The match of the answer with the closest reference answer, word by word."""

    target = TargetCategory.GENERATION_CORRECTNESS
    needs = ("reference_answer", "response")

    ignore_case: bool = option(True, "Compare in lower case.")
    ignore_punctuation: bool = option(True, "Remove ASCII punctuation.")
    ignore_articles: bool = option(True, "Remove a, an and the.")

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """The value of one sample; a reference answer without words counts only if all are without."""
        answer = self._words(response_text(output))
        references = [some for text in sample.references if (some := self._words(text))]
        return max(self.match(answer, reference) for reference in references or [[]])

    @abstractmethod
    def match(self, answer: list[str], reference: list[str]) -> float:
        """The match of an answer with one reference answer."""

    def _words(self, text: str) -> list[str]:
        return words(text, case=self.ignore_case, punctuation=self.ignore_punctuation, articles=self.ignore_articles)
