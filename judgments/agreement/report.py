"""How far do the raters of a round agree, by every coefficient, and what casts doubt on it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgments.agreement.coefficient import Agreement, Floats, grade_codes, percent_agreement, unit_counts
from judgments.agreement.cohen import WEIGHTED, RaterPair, kappa_of_cells, rater_pairs
from judgments.agreement.fleiss import FLEISS
from judgments.agreement.gwet import AC1, AC2
from judgments.agreement.intervals import agreements
from judgments.agreement.krippendorff import INTERVAL, NOMINAL, ORDINAL
from judgments.agreement.warnings import AgreementWarning, copied_raters, one_category_raters, small_overlap
from judgments.core.ratings import Ratings


@dataclass(frozen=True)
class CohenRow:
    """Cohen's kappas of two raters over the pairs that both graded."""

    a: str
    b: str
    n: int
    unweighted: Agreement
    linear: Agreement
    quadratic: Agreement

    def as_json(self) -> dict[str, Any]:
        """Return the values as plain numbers, their intervals beside them, and the reason where they are undefined."""
        kappas = {"unweighted": self.unweighted, "linear": self.linear, "quadratic": self.quadratic}
        return {
            "a": self.a,
            "b": self.b,
            "n": self.n,
            **{name: kappa.value for name, kappa in kappas.items()},
            "intervals": {name: {"low": kappa.low, "high": kappa.high} for name, kappa in kappas.items()},
            "percent_agreement": self.unweighted.percent_agreement,
            "reason": self.unweighted.reason,
        }


@dataclass(frozen=True)
class AgreementReport:
    """Everything about the agreement of one set of ratings.

    Parameters
    ----------
    raters, pairs, overlap, queries : int
        How many raters; pairs with a grade; pairs with two or more; queries of the pairs.
    percent_agreement : float or None
        Share of equal grades among all pairs of grades on one pair.
    nominal, ordinal, interval : Agreement
        Krippendorff's alpha at three levels; the ordinal one is the headline.
    fleiss, ac1, ac2 : Agreement
        Fleiss' kappa, Gwet's AC1 and AC2 with quadratic weights.
    cohen : tuple of CohenRow
        Every two raters who share a pair, by their names.
    warnings : tuple of AgreementWarning
        What casts doubt on the numbers.
    values : tuple of float
        The scale.
    bootstrap, seed : int
        Resamples of the intervals, and their seed.
    """

    raters: int
    pairs: int
    overlap: int
    queries: int
    percent_agreement: float | None
    nominal: Agreement
    ordinal: Agreement
    interval: Agreement
    fleiss: Agreement
    ac1: Agreement
    ac2: Agreement
    cohen: tuple[CohenRow, ...]
    warnings: tuple[AgreementWarning, ...]
    values: tuple[float, ...]
    bootstrap: int
    seed: int

    def as_json(self) -> dict[str, Any]:
        """Return the shape of ``assay agreement --format json``."""
        return {
            "raters": self.raters,
            "pairs": self.pairs,
            "overlap": self.overlap,
            "alpha": {
                "nominal": self.nominal.as_json(),
                "ordinal": self.ordinal.as_json(),
                "interval": self.interval.as_json(),
            },
            "fleiss": self.fleiss.as_json(),
            "gwet": {"ac1": self.ac1.as_json(), "ac2": self.ac2.as_json()},
            "cohen": [row.as_json() for row in self.cohen],
            "warnings": [warning.as_json() for warning in self.warnings],
            "queries": self.queries,
            "percent_agreement": self.percent_agreement,
            "scale": [int(value) if value == int(value) else value for value in self.values],
            "bootstrap": self.bootstrap,
            "seed": self.seed,
        }


def agreement_report(
    ratings: Ratings, values: Sequence[float] = (0, 1, 2, 3), bootstrap: int = 1000, seed: int = 0
) -> AgreementReport:
    """Compute every coefficient of a set of ratings, with intervals and warnings.

    Parameters
    ----------
    ratings : Ratings
        The grades of human raters under one scale and one version of the guidelines.
    values : sequence of float
        The values of the scale.
    bootstrap, seed : int
        Resamples of the 95 % intervals, drawn over queries (over pairs where there is only one query).

    Returns
    -------
    AgreementReport
        Undefined coefficients hold None and a reason.

    Raises
    ------
    NotValid
        When a grade is not on the scale.

    Examples
    --------
    >>> grades = {"r01": [3, 1, 0, 2, 0], "r02": [3, 1, 1, 2, 0]}
    >>> rows = [("q1", f"d{n}", rater, grade) for rater, of in grades.items() for n, grade in enumerate(of, 1)]
    >>> report = agreement_report(Ratings.from_rows(rows), bootstrap=0)
    >>> round(report.ordinal.value, 4), round(report.cohen[0].unweighted.value, 4), report.overlap
    (0.8955, 0.7368, 5)
    """
    codes, scale = grade_codes(ratings.grade, values)
    counts, _ = unit_counts(ratings.unit, codes, scale)
    nominal, ordinal, interval, fleiss, ac1, ac2 = agreements(
        (NOMINAL, ORDINAL, INTERVAL, FLEISS, AC1, AC2), counts, scale, ratings.query, resamples=bootstrap, seed=seed
    )
    pairs = rater_pairs(ratings, codes, len(scale))
    return AgreementReport(
        raters=len(ratings.raters),
        pairs=len(ratings.units),
        overlap=nominal.n,
        queries=len(ratings.query_ids),
        percent_agreement=percent_agreement(counts),
        nominal=nominal,
        ordinal=ordinal,
        interval=interval,
        fleiss=fleiss,
        ac1=ac1,
        ac2=ac2,
        cohen=tuple(_cohen(ratings, pair, scale, bootstrap, seed) for pair in pairs),
        warnings=(
            *copied_raters(pairs, ratings.raters, len(scale)),
            *one_category_raters(ratings),
            *small_overlap(counts, ratings.query),
        ),
        values=tuple(scale.tolist()),
        bootstrap=bootstrap,
        seed=seed,
    )


def _cohen(ratings: Ratings, pair: RaterPair, scale: Floats, bootstrap: int, seed: int) -> CohenRow:
    queries = ratings.query[pair.units]
    unweighted, linear, quadratic = (
        kappa_of_cells(coefficient, pair.cells, scale, queries, resamples=bootstrap, seed=seed)
        for coefficient in WEIGHTED.values()
    )
    return CohenRow(ratings.raters[pair.a], ratings.raters[pair.b], len(pair.cells), unweighted, linear, quadratic)
