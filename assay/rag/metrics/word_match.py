"""The base class of metrics that compare the words of the answer and a reference answer as in SQuAD."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import response_text, words


@dataclass(frozen=True)
class WordMatch(SampleMetric):
    """The match of the answer with the closest reference answer by words."""

    target = TargetCategory.GENERATION_CORRECTNESS
    needs = ("reference_answer", "response")

    ignore_case: bool = option(True, "Compare in lower case.")
    ignore_punctuation: bool = option(True, "Remove ASCII punctuation.")
    ignore_articles: bool = option(True, "Remove a, an and the.")

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        """Return the value of a sample; reference answers without words count only if none has words."""
        answer = self._words(response_text(output))
        references = [some for text in sample.references if (some := self._words(text))]
        return max(self.match(answer, reference) for reference in references or [[]])

    @abstractmethod
    def match(self, answer: list[str], reference: list[str]) -> float:
        """Return the match of an answer with a reference answer."""

    def _words(self, text: str) -> list[str]:
        return words(text, case=self.ignore_case, punctuation=self.ignore_punctuation, articles=self.ignore_articles)
