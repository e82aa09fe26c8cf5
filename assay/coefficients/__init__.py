"""Agreement coefficients, one module each.

From Python: ``from assay.coefficients import krippendorff_alpha, cohen_kappa``.
"""

from __future__ import annotations

from assay.coefficients.coefficient import REASONS, Agreement, Coefficient
from assay.coefficients.cohen import cohen_kappa
from assay.coefficients.fleiss import fleiss_kappa
from assay.coefficients.gwet import gwet_ac
from assay.coefficients.krippendorff import krippendorff_alpha
from assay.coefficients.report import AgreementReport, CohenRow, agreement_report
from assay.core.registry import Family

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
        "alpha-ordinal": "assay.coefficients.krippendorff:ORDINAL",
        "alpha-nominal": "assay.coefficients.krippendorff:NOMINAL",
        "alpha-interval": "assay.coefficients.krippendorff:INTERVAL",
        "alpha-ratio": "assay.coefficients.krippendorff:RATIO",
        "cohen-unweighted": "assay.coefficients.cohen:UNWEIGHTED",
        "cohen-linear": "assay.coefficients.cohen:LINEAR",
        "cohen-quadratic": "assay.coefficients.cohen:QUADRATIC",
        "fleiss": "assay.coefficients.fleiss:FLEISS",
        "ac1": "assay.coefficients.gwet:AC1",
        "ac2": "assay.coefficients.gwet:AC2",
    },
    group="assay.agreement",
)
