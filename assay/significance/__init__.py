"""Table of the significance tests and corrections, with a line for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.registry import Family

if TYPE_CHECKING:
    from assay.significance.corrections import Correction
    from assay.significance.paired_differences import PairedTest

__all__ = ["CORRECTIONS", "TESTS"]

TESTS: Family[PairedTest] = Family(
    "significance test",
    {
        "randomization": "assay.significance.randomization:RANDOMIZATION",
        "t": "assay.significance.paired_t:PAIRED_T",
        "bootstrap": "assay.significance.bootstrap:BOOTSTRAP",
        "wilcoxon": "assay.significance.wilcoxon:WILCOXON",
        "sign": "assay.significance.sign:SIGN",
        "tukey": "assay.significance.tukey:TUKEY",
    },
    group="assay.tests",
)

CORRECTIONS: Family[Correction] = Family(
    "correction",
    {
        "holm": "assay.significance.corrections:HOLM",
        "bonferroni": "assay.significance.corrections:BONFERRONI",
        "bh": "assay.significance.corrections:BENJAMINI_HOCHBERG",
    },
    group="assay.corrections",
)
