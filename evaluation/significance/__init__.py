"""Table of the significance tests and corrections. One line for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgments.core.family import Family

if TYPE_CHECKING:
    from evaluation.significance.corrections import Correction
    from evaluation.significance.paired import PairedTest

__all__ = ["CORRECTIONS", "TESTS"]

TESTS: Family[PairedTest] = Family(
    "significance test",
    {
        "randomization": "evaluation.significance.randomization:RANDOMIZATION",
        "t": "evaluation.significance.paired_t:PAIRED_T",
        "bootstrap": "evaluation.significance.bootstrap:BOOTSTRAP",
        "wilcoxon": "evaluation.significance.wilcoxon:WILCOXON",
        "sign": "evaluation.significance.sign:SIGN",
        "tukey": "evaluation.significance.tukey:TUKEY",
    },
    group="assay.tests",
)

CORRECTIONS: Family[Correction] = Family(
    "correction",
    {
        "holm": "evaluation.significance.corrections:HOLM",
        "bonferroni": "evaluation.significance.corrections:BONFERRONI",
        "bh": "evaluation.significance.corrections:BENJAMINI_HOCHBERG",
    },
    group="assay.corrections",
)
