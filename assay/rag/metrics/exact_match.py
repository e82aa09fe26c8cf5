"""Whether the answer equals a reference answer."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metrics.word_match import WordMatch


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

    @property
    def name(self) -> str:
        return "exact_match"

    def match(self, answer: list[str], reference: list[str]) -> float:
        """Return 1 for the same words in the same order, otherwise 0."""
        return float(answer == reference)
