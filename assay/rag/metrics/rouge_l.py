"""ROUGE-L: the F1 of the longest common subsequence of words."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metrics.rouge import Rouge


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
