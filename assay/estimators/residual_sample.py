"""Estimate of the unjudged relevant documents from a random sample of the documents outside the pool."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.core.qrels import Qrels
from assay.metrics.judged_rankings import Floats

# How the estimate was made.
RESIDUAL, CURVE = "residual", "curve"
LEVEL = 0.95


@dataclass(frozen=True)
class Missed:
    """The estimated number of unjudged relevant documents that the runs return."""

    value: float | None
    low: float | None
    high: float | None
    method: str
    found: int
    unjudged: int
    queries: int
    level: float = LEVEL
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def share_found(self) -> float | None:
        """Return the estimated share found of all relevant documents that the runs return.

        Examples
        --------
        >>> Missed(50.0, 20.0, 90.0, RESIDUAL, 150, 4000, 40).share_found
        0.75
        """
        if self.value is None or not self.found + self.value:
            return None
        return self.found / (self.found + self.value)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"share_found": self.share_found, "notes": list(self.notes)}


@dataclass(frozen=True)
class Stratum:
    """The residual stratum of one query."""

    query_id: str
    population: float
    judged: int
    relevant: int


def strata_of(drawn: Iterable[tuple[str, str, float]], qrels: Qrels, rel: float = 1) -> list[Stratum]:
    """Count, by query, the randomly drawn pairs that have a grade and that are relevant.

    Parameters
    ----------
    drawn : iterable of (query_id, doc_id, probability)
        The residual stratum with each pair's inclusion probability, which is the same for all pairs of a query.
    qrels : Qrels
        The labels; queries without labels are ignored.
    rel : float
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"a": 1, "b": 0}})
    >>> strata_of([("q1", "a", 0.1), ("q1", "b", 0.1), ("q1", "c", 0.1)], qrels)
    [Stratum(query_id='q1', population=30.0, judged=2, relevant=1)]
    """
    labels = qrels.to_dict()
    by_query: dict[str, list[tuple[str, float]]] = {}
    for query_id, doc_id, probability in drawn:
        if query_id in labels:
            by_query.setdefault(query_id, []).append((doc_id, probability))
    strata = []
    for query_id, pairs in sorted(by_query.items()):
        grades = [labels[query_id][doc_id] for doc_id, _ in pairs if doc_id in labels[query_id]]
        relevant = sum(grade >= rel for grade in grades)
        strata.append(Stratum(query_id, sum(1 / probability for _, probability in pairs), len(grades), relevant))
    return strata


def missed_by_sample(strata: Sequence[Stratum], relevant_count: int, level: float = LEVEL) -> Missed:
    """Estimate the unjudged relevant documents from the residual strata of the queries.

    Parameters
    ----------
    strata : sequence of Stratum
        One stratum per query; strata without graded documents are ignored and counted in a note.
    relevant_count : int
        Number of judged relevant documents.
    level : float
        Coverage of the interval.

    Returns
    -------
    Missed
        The Horvitz-Thompson total sum_q N_q r_q / n_q, minus the relevant documents of the sample, which are now
        judged: N_q documents in the stratum, n_q of them graded, r_q of these relevant.

    Notes
    -----
    The interval is that of Korn and Graubard for small proportions in a stratified sample: the Clopper-Pearson interval
    with the effective size p (1 - p) / v, where v is the variance of the share with its finite population correction.
    The effective size is limited to its value for evenly spread relevant documents, so that a sample in which few
    queries have relevant documents does not look too certain. If no document is relevant, the estimate is 0, but the
    upper end is not.

    Source: Horvitz and Thompson 1952; Korn and Graubard 1998, "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data".

    Examples
    --------
    >>> one = missed_by_sample([Stratum("q1", 100, 10, 2), Stratum("q2", 50, 10, 0)], relevant_count=30)
    >>> one.value, one.unjudged, one.low < 18 < one.high
    (18.0, 130, True)
    >>> round(missed_by_sample([Stratum("q1", 1000, 100, 0)], relevant_count=30).high, 1)
    34.4
    """
    sampled = [one for one in strata if one.judged]
    unjudged = round(sum(max(one.population - one.judged, 0.0) for one in sampled))
    silent = len(strata) - len(sampled)
    notes: tuple[str, ...] = ("documents that no run returns are not part of the estimate",)
    if silent:
        notes = (
            (f"{silent:,} quer{'y has' if silent == 1 else 'ies have'} no graded document in the residual stratum yet"),
            *notes,
        )
    if not sampled:
        reason = "no document of the residual stratum has a grade yet"
        return Missed(None, None, None, RESIDUAL, relevant_count, unjudged, 0, level, reason, notes[1:])
    population, judged, relevant = (
        np.array([getattr(one, name) for one in sampled], dtype=np.float64)
        for name in ("population", "judged", "relevant")
    )
    population = np.maximum(population, judged)
    total = float((population * relevant / judged).sum())
    low, high = _interval(population, judged, relevant, level)
    seen = float(relevant.sum())
    ends = max(low - seen, 0.0), min(max(high - seen, 0.0), float(unjudged))
    return Missed(total - seen, *ends, RESIDUAL, relevant_count, unjudged, len(sampled), level, None, notes)


def _interval(population: Floats, judged: Floats, relevant: Floats, level: float) -> tuple[float, float]:
    """Return the interval of the total."""
    whole = float(population.sum())
    share = float((population * relevant / judged).sum()) / whole
    rest = 1 - judged / population
    if not rest.any():  # every document of the strata was judged
        return share * whole, share * whole
    even = float((population**2 * _rarity(rest) / judged).sum()) / whole**2
    own = relevant / judged
    # A single document has no variance; the mean share replaces the query's own share.
    variance = np.where(judged > 1, own * (1 - own) * judged / np.maximum(judged - 1, 1), share * (1 - share))
    size = 1 / even
    measured = float((population**2 * rest / judged * variance).sum()) / whole**2
    if measured > 0:
        size = min(size, share * (1 - share) / measured)
    low, high = _clopper_pearson(share, size, 1 - level)
    return low * whole, high * whole


def _rarity(rest: Floats) -> Floats:
    """Return the finite population correction for rare relevant documents. A sample of the share f misses all K
    relevant documents with probability (1 - f)^K, and n draws with replacement from N with exp(-K n / N). Both are
    equal for n = -N ln(1 - f), which is n / f times -ln(1 - f).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (rest - 1) / np.log(rest)
    return np.where(rest <= 0, 0.0, np.where(rest >= 1, 1.0, value))


def _clopper_pearson(share: float, size: float, alpha: float) -> tuple[float, float]:
    """Return the exact interval of a share, also for a fractional sample size."""
    from scipy.special import betaincinv

    hits = share * size
    low = 0.0 if hits <= 0 else float(betaincinv(hits, size - hits + 1, alpha / 2))
    high = 1.0 if size - hits <= 0 else float(betaincinv(hits + 1, size - hits, 1 - alpha / 2))
    return (low, high) if math.isfinite(low + high) else (0.0, 1.0)
