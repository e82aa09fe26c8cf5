"""Agreement coefficients, one file each; a new one is one new file and one new line.

From Python: ``from judgments.agreement import krippendorff_alpha, cohen_kappa``.
"""

from __future__ import annotations

from judgments.agreement.coefficient import REASONS, Agreement, Coefficient
from judgments.agreement.cohen import cohen_kappa
from judgments.agreement.fleiss import fleiss_kappa
from judgments.agreement.gwet import gwet_ac
from judgments.agreement.krippendorff import krippendorff_alpha
from judgments.agreement.report import AgreementReport, CohenRow, agreement_report
from judgments.core.family import Family

__all__ = [
    "COEFFICIENTS",
    "REASONS",
    "Agreement",
    "AgreementReport",
    "Coefficient",
    "CohenRow",
    "agreement_report",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
]

COEFFICIENTS: Family[Coefficient] = Family(
    "coefficient",
    {
        "alpha-ordinal": "judgments.agreement.krippendorff:ORDINAL",
        "alpha-nominal": "judgments.agreement.krippendorff:NOMINAL",
        "alpha-interval": "judgments.agreement.krippendorff:INTERVAL",
        "alpha-ratio": "judgments.agreement.krippendorff:RATIO",
        "cohen-unweighted": "judgments.agreement.cohen:UNWEIGHTED",
        "cohen-linear": "judgments.agreement.cohen:LINEAR",
        "cohen-quadratic": "judgments.agreement.cohen:QUADRATIC",
        "fleiss": "judgments.agreement.fleiss:FLEISS",
        "ac1": "judgments.agreement.gwet:AC1",
        "ac2": "judgments.agreement.gwet:AC2",
    },
    group="assay.agreement",
)
