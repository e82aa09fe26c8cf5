"""Metrics that compare the words of the answer and a reference answer as in SQuAD."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from assay.rag.metric import SampleMetric, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import response_text
from assay.text_metrics.text_metric import accepted_tokens, answer_tokens
from assay.text_metrics.token_f1 import tokens_f1


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
        options = {
            "case": self.ignore_case,
            "punctuation": self.ignore_punctuation,
            "articles": self.ignore_articles,
        }
        answer = answer_tokens(response_text(output), **options)
        return max(self.match(answer, reference) for reference in accepted_tokens(sample.references, **options))

    @abstractmethod
    def match(self, answer: list[str], reference: list[str]) -> float:
        """Return the match of an answer with a reference answer."""


@dataclass(frozen=True)
class ExactMatch(WordMatch):
    """Exact match after normalization."""

    title = "Exact match"
    description = "The share of answers that equal a reference answer, ignoring case, punctuation and articles."
    formula = "1 if the normalized answer equals a normalized reference answer, otherwise 0"
    source = "Auepora metrics specification, 4.1.1; Rajpurkar et al. 2016"
    differs = (
        "The judges' text metric `exact_match` treats a sample without accepted answers as a question without "
        "an answer. Here the sample is skipped, and `NegativeRejectionRate` covers such questions."
    )
    pattern = "exact_match"

    def match(self, answer: list[str], reference: list[str]) -> float:
        """Return 1 for the same words in the same order, otherwise 0."""
        return float(answer == reference)


@dataclass(frozen=True)
class TokenF1(WordMatch):
    """Token F1 with the closest reference answer."""

    title = "Token F1"
    description = "How many words the answer shares with the closest reference answer; order does not matter."
    formula = (
        "2 P R / (P + R), where P and R are the shared words (with multiplicity) as a share of the "
        "answer's and of the reference answer's words"
    )
    source = "Auepora metrics specification, 4.1.2; Rajpurkar et al. 2016"
    differs = (
        "The judges' text metric `token_f1` treats a sample without accepted answers as a question without an "
        "answer; here the sample is skipped. The specification returns 0 if either side has no words; SQuAD and this "
        "metric return 1 if neither side has words."
    )
    pattern = "token_f1"

    def match(self, answer: list[str], reference: list[str]) -> float:
        """Return F1 over words with multiplicity."""
        return tokens_f1(answer, reference)
