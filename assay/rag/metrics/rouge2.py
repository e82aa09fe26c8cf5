"""ROUGE-2: the F1 of shared pairs of words."""

from __future__ import annotations

from dataclasses import dataclass

from assay.rag.metrics.rouge import Rouge


@dataclass(frozen=True)
class Rouge2(Rouge):
    """ROUGE-2 computed like rouge-score."""

    title = "ROUGE-2"
    description = "How many pairs of neighboring words the answer shares with the reference answer, as F1."
    formula = "2 P R / (P + R) of the shared 2-grams, with multiplicity"
    source = "Lin 2004; Auepora metrics specification, 4.2.1"
    variant = "rouge2"
