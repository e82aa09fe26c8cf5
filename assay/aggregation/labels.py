"""Apply a label rule to ratings: the label of each pair, and the pairs in conflict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.aggregation import RULES
from assay.aggregation.label_rule import Floats, Ints, Label, Labels, Votes
from assay.aggregation.vote import REAL_MEAN
from assay.core.errors import NotValid
from assay.core.ratings import Ratings, places


def aggregate(
    ratings: Ratings, rule: str = "median", values: Sequence[float] = (0, 1, 2, 3), *, real: bool = False
) -> Labels:
    """Compute one label for each pair.

    Parameters
    ----------
    ratings : Ratings
        The grades to combine.
    rule : str
        A name of `RULES`.
    values : sequence of float
        The values of the scale.
    real : bool
        Whether to keep fractions, with the rule ``mean``.

    Returns
    -------
    Labels
        One label per pair, sorted by id bytes. A grade of None is a tie that the rule leaves to a lead.

    Raises
    ------
    UnknownName
        When there is no such rule.
    NotValid
        When a grade is not on the scale, or fractions are requested from a rule other than ``mean``.

    Examples
    --------
    >>> grades = {"r01": [3, 1, 0, 2, 0], "r02": [3, 1, 1, 2, 0]}
    >>> rows = [("q1", f"d{n}", rater, grade) for rater, of in grades.items() for n, grade in enumerate(of, 1)]
    >>> labels = aggregate(Ratings.from_rows(rows), "median")
    >>> [label.grade for label in labels], [label.doc_id for label in labels.conflicts()]
    ([3.0, 1.0, 0.0, 2.0, 0.0], ['d3'])
    """
    chosen = RULES[rule]
    if real and rule != "mean":
        raise NotValid(f"the label rule {rule} does not produce fractions; use the rule mean")
    scale = np.unique(np.asarray(values, dtype=np.float64))
    codes = places(ratings.grade, scale)
    if not len(ratings):
        return Labels(rule, tuple(scale.tolist()), ())
    counts = np.bincount(ratings.unit * len(scale) + codes, minlength=len(ratings.units) * len(scale))
    votes = Votes(ratings, codes, counts.reshape(len(ratings.units), len(scale)).astype(np.int64), scale)
    verdicts = (REAL_MEAN if real else chosen).settle(votes)
    spreads = _spread(votes.counts, scale)
    rows = zip(ratings.units, verdicts.grades.tolist(), votes.counts.sum(axis=1).tolist(), spreads, strict=True)
    labels = tuple(
        Label(query_id, doc_id, None if grade != grade else grade, given, spread, bool(tie))
        for ((query_id, doc_id), grade, given, spread), tie in zip(rows, verdicts.ties, strict=True)
    )
    return Labels(rule, tuple(scale.tolist()), labels)


def _spread(counts: Ints, scale: Floats) -> list[float]:
    given = np.where(counts > 0, scale, np.nan)
    spread: list[float] = (np.nanmax(given, axis=1) - np.nanmin(given, axis=1)).tolist()
    return spread
