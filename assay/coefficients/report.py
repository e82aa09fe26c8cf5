"""Agreement report of a round: all coefficients with intervals, and warnings about their reliability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.coefficients.by_grade import GradeAgreement, by_grade, confusion
from assay.coefficients.coefficient import Agreement, Floats, GradeTable, Patterns, grade_codes, percent_agreement
from assay.coefficients.cohen import WEIGHTED
from assay.coefficients.intervals import agreements
from assay.coefficients.rater_pairs import (
    AgreementWarning,
    RaterPairs,
    copied_raters,
    kappas,
    one_category_raters,
    small_overlap,
)
from assay.core.ratings import Ratings
from assay.core.result import Result


@dataclass(frozen=True)
class CohenRow:
    """Cohen's kappas of two raters."""

    a: str
    b: str
    n: int
    unweighted: Agreement
    linear: Agreement
    quadratic: Agreement

    def as_json(self) -> dict[str, Any]:
        """Return the values with intervals, and the reason for undefined ones."""
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
class AgreementReport(Result):
    """All agreement results of one set of ratings.

    Parameters
    ----------
    raters, pairs, overlap, queries, overlap_queries : int
        Number of raters, pairs with a grade, pairs with two or more grades, queries of the pairs, and queries with
        overlap.
    percent_agreement : float or None
        Share of equal grades among all grades of the same pair, two at a time.
    coefficients : dict of str to Agreement
        Every coefficient of the family by its name. Coefficients for two raters are means over rater pairs, weighted by
        the number of shared pairs.
    cohen : tuple of CohenRow
        Every two raters who share a pair, sorted by name.
    grades : tuple of GradeAgreement
        The agreement on each grade of the scale.
    confusion : list of list of int
        Number of times that two raters gave these two grades to a pair.
    shares : tuple of float
        Each grade's share of the grades on overlapping pairs.
    warnings : tuple of AgreementWarning
        Warnings about the reliability of the numbers.
    values : tuple of float
        The scale.
    bootstrap, seed : int
        Number of resamples and seed of the intervals.
    """

    raters: int
    pairs: int
    overlap: int
    queries: int
    overlap_queries: int
    percent_agreement: float | None
    coefficients: dict[str, Agreement]
    cohen: tuple[CohenRow, ...]
    grades: tuple[GradeAgreement, ...]
    confusion: list[list[int]]
    shares: tuple[float, ...]
    warnings: tuple[AgreementWarning, ...]
    values: tuple[float, ...]
    bootstrap: int
    seed: int

    @property
    def ordinal(self) -> Agreement:
        """Return Krippendorff's ordinal alpha, the headline coefficient."""
        return self.coefficients["alpha-ordinal"]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each coefficient, with its interval, n, and the reason if undefined."""
        return [{"coefficient": name, **one.as_json()} for name, one in self.coefficients.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``assay agreement --format json``."""
        return self.as_json()

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``assay agreement --format json``."""
        coefficients = {name: one.as_json() for name, one in self.coefficients.items()}
        return {
            "raters": self.raters,
            "pairs": self.pairs,
            "overlap": self.overlap,
            "alpha": {level: coefficients[f"alpha-{level}"] for level in ("nominal", "ordinal", "interval", "ratio")},
            "fleiss": coefficients["fleiss"],
            "gwet": {"ac1": coefficients["ac1"], "ac2": coefficients["ac2"]},
            "cohen": [row.as_json() for row in self.cohen],
            "warnings": [warning.as_json() for warning in self.warnings],
            "queries": self.queries,
            "overlap_queries": self.overlap_queries,
            "percent_agreement": self.percent_agreement,
            "coefficients": coefficients,
            "grades": [grade.as_json() for grade in self.grades],
            "confusion": self.confusion,
            "shares": list(self.shares),
            "scale": [int(value) if value == int(value) else value for value in self.values],
            "bootstrap": self.bootstrap,
            "seed": self.seed,
        }


def agreement(
    ratings: Any, scale: Sequence[int] = (0, 1, 2, 3), bootstrap: int = 1000, seed: int = 0
) -> AgreementReport:
    """Compute every coefficient of ratings in a file, a data frame or rows; see `agreement_report`.

    Parameters
    ----------
    ratings : path, DataFrame, iterable or Ratings
        As `assay.formats.qrels_and_runs.read_ratings` takes them.
    scale : sequence of int
        The grades that raters may give.
    bootstrap, seed : int
        Number of resamples and seed of the 95% intervals; 0 resamples for none.

    Raises
    ------
    UnreadableInput, NotValid
        As `assay.formats.qrels_and_runs.read_ratings`.

    Examples
    --------
    >>> grades = {"r01": [3, 1, 0, 2, 0], "r02": [3, 1, 1, 2, 0]}
    >>> rows = [("q1", f"d{n}", rater, grade) for rater, of in grades.items() for n, grade in enumerate(of, 1)]
    >>> round(agreement(rows, bootstrap=0).ordinal.value, 4)
    0.8955
    """
    from assay.formats.qrels_and_runs import read_ratings

    return agreement_report(read_ratings(ratings, scale), scale, bootstrap, seed)


def agreement_report(
    ratings: Ratings | GradeTable, values: Sequence[float] = (0, 1, 2, 3), bootstrap: int = 1000, seed: int = 0
) -> AgreementReport:
    """Compute every coefficient of a set of ratings, with intervals and warnings.

    Parameters
    ----------
    ratings : Ratings or GradeTable
        The grades of human raters under one scale and one version of the guidelines.
    values : sequence of float
        The values of the scale.
    bootstrap, seed : int
        Number of resamples and seed of the 95% intervals, drawn over queries (over pairs if there is only one query).

    Returns
    -------
    AgreementReport
        Undefined coefficients have the value None and a reason.

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
    table = ratings if isinstance(ratings, GradeTable) else GradeTable.of(ratings)
    codes, scale = grade_codes(table.grade, values)
    patterns = Patterns.of(table.unit, codes, table.units, len(scale))
    pairs = RaterPairs.of(table, codes, len(scale), clustered=bootstrap > 0)
    cohen, coefficients = _coefficients(table, patterns, pairs, scale, bootstrap, seed)
    shared = patterns.shared()
    overlap, given = int(shared.times.sum()), shared.times @ shared.rows
    queries = len(np.unique(table.query[(patterns.ratings >= 2)[patterns.of_unit]]))
    return AgreementReport(
        raters=len(table.raters),
        pairs=table.units,
        overlap=overlap,
        queries=len(table.query_ids),
        overlap_queries=queries,
        percent_agreement=percent_agreement(patterns),
        coefficients=coefficients,
        cohen=tuple(cohen),
        grades=tuple(by_grade(patterns, scale, table.query, resamples=bootstrap, seed=seed)),
        confusion=confusion(pairs, len(scale)),
        shares=tuple((given / given.sum()).tolist()) if overlap else (),
        warnings=(
            *copied_raters(pairs.pairs, table.raters),
            *one_category_raters(table, codes, scale),
            *small_overlap(overlap, queries),
        ),
        values=tuple(scale.tolist()),
        bootstrap=bootstrap,
        seed=seed,
    )


def _coefficients(
    table: GradeTable, patterns: Patterns, pairs: RaterPairs, scale: Floats, bootstrap: int, seed: int
) -> tuple[list[CohenRow], dict[str, Agreement]]:
    """Compute the kappas of every two raters, and every coefficient of the family by its name."""
    from assay.coefficients import COEFFICIENTS

    members = [COEFFICIENTS[name] for name in COEFFICIENTS]
    several = [one for one in members if one.raters != "two"]
    two = [*WEIGHTED.values(), *(one for one in members if one.raters == "two" and one not in WEIGHTED.values())]
    rows, means = kappas(pairs, two, scale, bootstrap, seed)
    values_of_several = agreements(several, patterns, scale, table.query, resamples=bootstrap, seed=seed)
    by_name = {one.name: value for one, value in zip([*several, *two], [*values_of_several, *means], strict=True)}
    cohen = [
        CohenRow(table.raters[pair.a], table.raters[pair.b], pair.n, *row[: len(WEIGHTED)])
        for pair, row in zip(pairs.pairs, rows, strict=True)
    ]
    return cohen, {name: by_name[name] for name in COEFFICIENTS}
