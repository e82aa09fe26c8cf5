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
    formula = "2 P R / (P + R), P and R the shared words (with multiplicity) over those of the answer and the reference"
    source = "Auepora metrics specification, 4.1.2; Rajpurkar et al. 2016"
    differs = (
        "The text metric `token_f1` of judges treats a sample without accepted answers as a question without an "
        "answer; here it is skipped. The specification returns 0 if either side has no words; SQuAD and this metric "
        "return 1 if neither side has words."
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
