"""Agreement of each pair of raters, and warnings about raters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.coefficients.coefficient import TABLE, Agreement, Coefficient, Floats, GradeTable, Ints, distinct
from assay.coefficients.cohen import of_table
from assay.coefficients.intervals import between, cluster_codes, draws, redrawn
from assay.core.text_rules import amount

# Number of rater pairs to resample at once: two hundred raters form twenty thousand pairs.
AT_ONCE = 500
# Number of values to sum together, with the memory of a block of draws.
MOST_TOGETHER = 4_000_000
# Whole numbers up to here are exact as float32.
EXACT_SINGLE = 2**24


@dataclass(frozen=True, eq=False)
class RaterPair:
    """Two raters and their grades for the units that they share."""

    a: int
    b: int
    clusters: Ints
    sums: Floats
    size: int

    @property
    def table(self) -> Floats:
        """Return the units by both raters' grades, shape (grades, grades)."""
        return np.asarray(self.sums.sum(axis=0).reshape(self.size, self.size))

    @property
    def n(self) -> int:
        """Return the number of shared units."""
        return int(self.sums.sum())

    @property
    def equal(self) -> int:
        """Return the number of units with the same grade from both."""
        return int(np.trace(self.table))


@dataclass(frozen=True, eq=False)
class RaterPairs:
    """Every two raters who share a unit."""

    pairs: tuple[RaterPair, ...]
    clusters: int

    @classmethod
    def of(cls, table: GradeTable, codes: Ints, size: int, *, clustered: bool) -> RaterPairs:
        """Build the table, with a pass over the rows for each additional grade of a unit."""
        cluster, clusters = _clusters(table) if clustered else (np.zeros(table.units, dtype=np.int64), 1)
        given = table.rater * size + codes
        wide = len(table.raters) * size
        keys, times = _counted(table.unit, given, cluster, wide, clusters)
        a, b, query = keys // clusters // wide, keys // clusters % wide, keys % clusters
        pair = a // size * len(table.raters) + b // size
        order = np.argsort(pair, kind="stable")
        cells = a % size * size + b % size
        pairs = []
        for rows in np.split(order, np.flatnonzero(np.diff(pair[order])) + 1) if len(order) else []:
            names, place, _ = distinct(query[rows], clusters)
            cell = place * size * size + cells[rows]
            sums = np.bincount(cell, weights=times[rows], minlength=len(names) * size * size)
            shape = (len(names), size * size)
            pairs.append(
                RaterPair(
                    int(a[rows[0]] // size),
                    int(b[rows[0]] // size),
                    names,
                    sums.reshape(shape).astype(np.float64),
                    size,
                )
            )
        return cls(tuple(pairs), clusters if clustered else 0)


def _clusters(table: GradeTable) -> tuple[Ints, int]:
    """Number the queries of shared units first, then the others; number units if there is only one query."""
    shared = np.bincount(table.unit, minlength=table.units) >= 2
    codes = cluster_codes(table.query[shared])
    cluster_of = np.zeros(table.units, dtype=np.int64)
    cluster_of[shared] = np.arange(int(shared.sum())) if codes is None else codes
    return cluster_of, max(int(cluster_of.max(initial=0)) + 1, 1)


def _counted(unit: Ints, given: Ints, cluster: Ints, wide: int, clusters: int) -> tuple[Ints, Ints]:
    """Count each combination of two raters' grades per cluster, over rows of the same unit."""
    most = wide * wide * clusters
    table = np.zeros(most, dtype=np.int64) if most <= TABLE else None
    blocks: list[Ints] = []
    shift = 1
    # Rows of a unit are adjacent, so their distance is at most the number of its grades.
    while shift < len(unit) and (same := unit[:-shift] == unit[shift:]).any():
        keys = (given[:-shift] * wide)[same] + given[shift:][same]
        if clusters > 1:
            keys = keys * clusters + cluster[unit[:-shift][same]]
        if table is None:
            blocks.append(keys)
        else:
            table += np.bincount(keys, minlength=most)
        shift += 1
    if table is not None:
        present = np.flatnonzero(table)
        return present, table[present]
    keys, times = np.unique(np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int64), return_counts=True)
    return keys, times


def kappas(
    table: RaterPairs, coefficients: Sequence[Coefficient], values: Floats, resamples: int, seed: int
) -> tuple[list[list[Agreement]], list[Agreement]]:
    """Compute kappas of every two raters and their means, all from the same draws of queries."""
    rows: list[list[Agreement]] = []
    sums, weights = np.zeros((2, len(coefficients), resamples))
    for start in range(0, len(table.pairs), AT_ONCE):
        pairs = table.pairs[start : start + AT_ONCE]
        drawn, times = _drawn(pairs, table.clusters, coefficients, values, resamples, seed)
        counted = np.where(np.isnan(drawn), 0.0, times[:, None, :])
        sums += (np.nan_to_num(drawn) * counted).sum(axis=0)
        weights += counted.sum(axis=0)
        for pair, of_pair in zip(pairs, drawn, strict=True):
            rows.append([_kappa(pair, *of, values, seed) for of in zip(coefficients, of_pair, strict=True)])
    with np.errstate(invalid="ignore"):
        means = sums / np.where(weights > 0, weights, np.nan)
    return rows, [_mean([row[place] for row in rows], means[place]) for place in range(len(coefficients))]


def _drawn(
    pairs: Sequence[RaterPair],
    clusters: int,
    coefficients: Sequence[Coefficient],
    values: Floats,
    resamples: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Return every kappa of each draw, shape (pairs, kappas, draws), and the number of units that each rater pair
    shares in it."""
    drawn, times = np.full((len(pairs), len(coefficients), resamples), np.nan), np.zeros((len(pairs), resamples))
    cells = pairs[0].sums.shape[1] if pairs else 0
    # Rater pairs that share most queries are summed together; for whole numbers, the order of summation does not
    # matter.
    wide = [place for place, pair in enumerate(pairs) if clusters and 2 * len(pair.clusters) > clusters]
    wide = wide[: MOST_TOGETHER // max(1, clusters * cells)]
    together = np.zeros((clusters, len(wide), cells))
    for at, place in enumerate(wide):
        together[pairs[place].clusters, at] = pairs[place].sums
    filled = together.any(axis=0)
    together = together[:, filled]
    among = {place: at for at, place in enumerate(wide)}
    done = 0
    for block in draws(clusters, resamples, seed):
        now = slice(done, done + len(block))
        summed = np.zeros((len(block), len(wide), cells))
        summed[:, filled] = _sums(block, together)
        for place, pair in enumerate(pairs):
            sums = summed[:, among[place]] if place in among else block[:, pair.clusters] @ pair.sums
            times[place, now] = sums.sum(axis=1)
            for column, coefficient in enumerate(coefficients):
                drawn[place, column, now] = coefficient.value(sums, values)
        done += len(block)
    return drawn, times


def _sums(block: Floats, table: Floats) -> Floats:
    """Multiply matrices of whole numbers, in single precision if that is exact, because it is twice as fast."""
    if block.max(initial=0) * table.sum(axis=0).max(initial=0) < EXACT_SINGLE:
        return (block.astype(np.float32) @ table.astype(np.float32)).astype(np.float64)
    return np.asarray(block @ table)


def _kappa(pair: RaterPair, coefficient: Coefficient, drawn: Floats, values: Floats, seed: int) -> Agreement:
    basis = of_table(pair.table)
    if basis.reason:
        return basis
    value = float(coefficient.value(pair.table.reshape(-1), values))
    if len(pair.clusters) == 1 and len(drawn):
        # All shared units are from one query, and repeated draws of it would have no variance.
        drawn = coefficient.value(redrawn(np.eye(pair.sums.shape[1]), pair.sums[0], len(drawn), seed), values)
    return between(replace(basis, value=value), drawn)


def _mean(rows: Sequence[Agreement], drawn: Floats) -> Agreement:
    defined = [(row.n, row.value) for row in rows if row.value is not None]
    n = sum(row.n for row in rows)
    equal = sum(row.n * row.percent_agreement for row in rows if row.percent_agreement is not None)
    basis = Agreement(None, None, n, 2 * n, equal / n if n else None)
    if not defined:
        return replace(basis, reason=rows[0].reason if rows else "no_overlap")
    value = sum(n * kappa for n, kappa in defined) / sum(n for n, _ in defined)
    return between(replace(basis, value=value), drawn)


LEAST_SHARED = 20
LEAST_GRADES = 5
SUSPICIOUS = 1e-4
USUAL_AGREEMENT = 0.85
COPY_DIFFERS = 0.5
ENOUGH_UNITS, ENOUGH_QUERIES = 200, 30


@dataclass(frozen=True)
class AgreementWarning:
    """A warning that a reader of the coefficients must know."""

    code: str
    raters: tuple[str, ...]
    message: str

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "raters": list(self.raters), "message": self.message}


def copied_raters(pairs: Sequence[RaterPair], raters: Sequence[str]) -> list[AgreementWarning]:
    """Find pairs of raters who agree far more often than other raters."""
    shared, equal = [pair.n for pair in pairs], [pair.equal for pair in pairs]
    everything, all_equal = sum(shared), sum(equal)
    alone = max(USUAL_AGREEMENT, _by_chance(pairs))
    warnings = []
    for pair, n, x in zip(pairs, shared, equal, strict=True):
        rest = everything - n
        usual = (all_equal - x + 1) / (rest + 2) if rest >= LEAST_SHARED else alone
        if n < LEAST_SHARED or (pair.table > 0).sum() < 2:
            continue
        # Over thousands of pairs, even a few percent are significant, and people who think alike do not copy.
        if (n - x) / n > COPY_DIFFERS * (1 - usual):
            continue
        if _chance_of_at_least(x, n, usual) * len(pairs) < SUSPICIOUS:
            a, b = raters[pair.a], raters[pair.b]
            message = f"{a} and {b} gave the same grade to {x} of {n} shared pairs; the usual share is {usual:.0%}. "
            warnings.append(
                AgreementWarning("copied_raters", (a, b), message + "Check whether one copied from the other")
            )
    return warnings


def _by_chance(pairs: Sequence[RaterPair]) -> float:
    """Return how often two raters agree by chance, given the frequency of each grade."""
    given = sum((pair.table.sum(axis=0) + pair.table.sum(axis=1) for pair in pairs), np.zeros(1))
    return float(((given / given.sum()) ** 2).sum()) if given.sum() else 0.0


def _chance_of_at_least(x: int, n: int, share: float) -> float:
    def log_chance(k: int) -> float:
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return ways + k * math.log(share) + (n - k) * math.log1p(-share)

    return math.fsum(math.exp(log_chance(k)) for k in range(x, n + 1))


def one_category_raters(table: GradeTable, codes: Ints, scale: Floats) -> list[AgreementWarning]:
    """Find raters who gave the same grade to five or more pairs for which others used several grades."""
    size = max(len(scale), 1)
    given = np.bincount(table.rater * size + codes, minlength=len(table.raters) * size).reshape(-1, size)
    if (given.sum(axis=0) > 0).sum() < 2:
        return []
    warnings: list[AgreementWarning] = []
    for rater, times in zip(table.raters, given, strict=True):
        if times.sum() >= LEAST_GRADES and times.max() == times.sum():
            message = f"{rater} gave the grade {scale[times.argmax()]:g} to all {times.sum()} pairs. "
            warnings.append(AgreementWarning("one_category_rater", (rater,), message + "Review some of them together"))
    return warnings


def small_overlap(units: int, queries: int) -> list[AgreementWarning]:
    """Return a warning if there is too little overlap: 200 pairs from 30 queries are needed."""
    if units >= ENOUGH_UNITS and queries >= ENOUGH_QUERIES:
        return []
    message = f"{amount(units, 'pair')} from {amount(queries, 'query', 'queries')} with two or more grades; "
    need = f"decisions need at least {ENOUGH_UNITS} pairs from {ENOUGH_QUERIES} queries"
    return [AgreementWarning("not_enough_overlap", (), message + need)]
