"""Usefulness of retrieved lists to the answering system, and its correlation with answer quality.

The labels are the scores of answers from the system's model with a single document each. They are fractions between 0
and 1: their mean over a list is its precision, their maximum its hit rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from assay.core.errors import NotValid
from assay.core.run import Run

FEWEST = 3
REASONS = {
    "too_few_queries": f"undefined because fewer than {FEWEST} queries have both values",
    "constant": "undefined because all queries have the same value",
}


@dataclass(frozen=True, slots=True)
class ListValue:
    """The usefulness of a list of documents."""

    precision: float | None
    hit: float | None
    unlabelled: int


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlation between the usefulness of lists and the quality of answers."""

    tau: float | None
    rho: float | None
    queries: int
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def list_values(usefulness: Mapping[tuple[str, str], float], run: Run, k: int) -> dict[str, ListValue]:
    """Aggregate the labels over each list of a run.

    Examples
    --------
    >>> found = list_values({("q1", "a"): 0.5, ("q1", "b"): 1.0}, Run.from_dict({"q1": {"a": 2.0, "b": 1.0}}), 2)
    >>> found["q1"].precision, found["q1"].hit
    (0.75, 1.0)
    """
    if k < 1:
        raise NotValid(f"the cutoff is {k}; use 1 or more")
    labelled = {query_id for query_id, _ in usefulness}
    by_query: dict[str, ListValue] = {}
    for query_id in run.query_ids:
        if query_id not in labelled:
            continue
        values = [usefulness.get((query_id, doc_id)) for doc_id in run.ranking(query_id)[:k]]
        known = [value for value in values if value is not None]
        missing = len(values) - len(known)
        whole = not missing
        by_query[query_id] = ListValue(
            sum(known) / k if whole else None, max(known, default=0.0) if whole else None, missing
        )
    return by_query


def correlation(values: Mapping[str, float], end_to_end: Mapping[str, float]) -> Correlation:
    """Compare the values of lists with the quality of the whole system's answers.

    Examples
    --------
    >>> correlation({"a": 0.1, "b": 0.5, "c": 0.9}, {"a": 0.2, "b": 0.3, "c": 1.0}).tau
    1.0
    """
    both = [query_id for query_id in values if query_id in end_to_end]
    if len(both) < FEWEST:
        return Correlation(None, None, len(both), "too_few_queries")
    mine, theirs = [values[one] for one in both], [end_to_end[one] for one in both]
    if len(set(mine)) == 1 or len(set(theirs)) == 1:
        return Correlation(None, None, len(both), "constant")
    from scipy.stats import kendalltau, spearmanr

    return Correlation(float(kendalltau(mine, theirs)[0]), float(spearmanr(mine, theirs)[0]), len(both))
