"""The F1 of the words that the answer shares with a reference answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assay.rag.metrics.word_match import WordMatch


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

    @property
    def name(self) -> str:
        return "token_f1"

    def match(self, answer: list[str], reference: list[str]) -> float:
        """Return F1 over words with multiplicity."""
        if not answer or not reference:
            # SQuAD's rule: an answer without words is correct if the reference also has none.
            return float(answer == reference)
        return 2 * (Counter(answer) & Counter(reference)).total() / (len(answer) + len(reference))
