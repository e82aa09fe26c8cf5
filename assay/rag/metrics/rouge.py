"""The ROUGE metrics, with the tokenizer of rouge-score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from assay.rag.metric import option
from assay.rag.metrics.reference_metric import ReferenceMetric
from assay.text_metrics.rouge import rouge_f1, rouge_words


@dataclass(frozen=True)
class Rouge(ReferenceMetric):
    """A variant of ROUGE, as F1, for the closest reference answer or the query."""

    extra = "rag"
    variant: ClassVar[str]

    use_stemmer: bool = option(True, "Compare word stems (Porter) for words of more than three letters.")

    @property
    def name(self) -> str:
        return f"{self.variant}_{'answer' if self.compare_to == 'reference' else 'query'}"

    @classmethod
    def from_name(cls, text: str) -> Self | None:
        """Return the metric with this name, or None."""
        compare_to = {f"{cls.variant}_answer": "reference", f"{cls.variant}_query": "query"}.get(text)
        return None if compare_to is None else cls(compare_to=compare_to)

    def similarities(self, answers: Sequence[str], targets: Sequence[str]) -> list[float]:
        """Return the ROUGE of each answer and its target."""
        return [
            rouge_f1(self.variant, rouge_words(target, self.use_stemmer), rouge_words(answer, self.use_stemmer))
            for answer, target in zip(answers, targets, strict=True)
        ]


@dataclass(frozen=True)
class Rouge1(Rouge):
    """ROUGE-1 computed like rouge-score."""

    title = "ROUGE-1"
    description = "How many words the answer shares with the reference answer, as F1."
    formula = "2 P R / (P + R) of the shared 1-grams, with multiplicity"
    source = "Lin 2004; Auepora metrics specification, 4.2.1"
    variant = "rouge1"


@dataclass(frozen=True)
class Rouge2(Rouge):
    """ROUGE-2 computed like rouge-score."""

    title = "ROUGE-2"
    description = "How many pairs of neighboring words the answer shares with the reference answer, as F1."
    formula = "2 P R / (P + R) of the shared 2-grams, with multiplicity"
    source = "Lin 2004; Auepora metrics specification, 4.2.1"
    variant = "rouge2"


@dataclass(frozen=True)
class RougeL(Rouge):
    """ROUGE-L computed like rouge-score."""

    title = "ROUGE-L"
    description = "The longest sequence of words shared by the answer and the reference answer, as F1; order matters."
    formula = (
        "2 P R / (P + R), where P and R are the longest common subsequence as a share of the answer's and "
        "of the reference answer's words"
    )
    source = "Lin 2004; Auepora metrics specification, 4.2.1"
    differs = (
        "The judges' text metric `rouge_l` compares words. Here, word stems are compared by default, as in the "
        "specification; `RougeL(use_stemmer=False)` gives the same values."
    )
    variant = "rougeL"
