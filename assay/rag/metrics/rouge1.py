"""ROUGE-1: the F1 of shared words."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metrics.rouge import Rouge


@dataclass(frozen=True)
class Rouge1(Rouge):
    """ROUGE-1 computed like rouge-score."""

    title = "ROUGE-1"
    description = "How many words the answer shares with the reference answer, as F1."
    formula = "2 P R / (P + R) of the shared 1-grams, with multiplicity"
    source = "Lin 2004; Auepora metrics specification, 4.2.1"
    variant = "rouge1"
