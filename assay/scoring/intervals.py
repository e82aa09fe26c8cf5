"""Confidence intervals of means over queries: bootstrap and Student's t."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.metrics.metric import GEOMETRIC_FLOOR, LEAST_QUERIES, Interval, MeanKind, hajek_mean, within

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

# A block of counts takes 32 MB, so that there are few matrix products, whose threads are inefficient for small blocks.
BLOCK_CELLS = 1 << 22
# Number of draws at once: three tables of this size fit in the processor cache.
DRAW_CELLS = 1 << 20


def resampled_counts(sizes: Sequence[int], resamples: int, seed: int) -> Iterator[Floats]:
    """Yield how often each query is drawn with replacement; each stratum keeps its number of queries.

    Examples
    --------
    >>> (counts,) = resampled_counts([2, 3], resamples=4, seed=0)
    >>> counts[:, :2].sum(axis=1).tolist(), counts[:, 2:].sum(axis=1).tolist()
    ([2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0])
    """
    queries = max(sum(sizes), 1)
    random = np.random.default_rng(seed)
    at_once = max(1, DRAW_CELLS // queries)
    most = at_once * (BLOCK_CELLS // DRAW_CELLS)
    block = np.empty((min(most, resamples), queries))
    for begin in range(0, resamples, most):
        rows = min(most, resamples - begin)
        for first in range(0, rows, at_once):
            part = block[first : min(first + at_once, rows)]
            part[:] = _drawn(sizes, len(part), random)
        yield block[:rows]


def _drawn(sizes: Sequence[int], rows: int, random: np.random.Generator) -> Places:
    queries = sum(sizes)
    cells = np.empty((rows, queries), dtype=np.int64)
    row_starts = (np.arange(rows, dtype=np.int64) * queries)[:, None]
    first = 0
    for size in sizes:
        inside = cells[:, first : first + size]
        inside[:] = random.integers(0, size, (rows, size), dtype=np.uint32)
        inside += row_starts + first
        first += size
    return np.bincount(cells.ravel(), minlength=rows * queries).reshape(rows, queries)


def resampled_means(
    values: Floats, centers: Floats, weights: Floats, strata: Sequence[Places], *, resamples: int, seed: int
) -> Floats:
    """Compute the weighted mean of every column in every resample, with one matrix product per block."""
    order = np.concatenate(list(strata))
    present = ~np.isnan(values[order])
    weight = weights[order, None]
    distances = np.where(present, weight * (values[order] - centers), 0.0)
    # Columns that lack the same queries share their totals; usually there is one such pattern.
    seen: dict[bytes, int] = {}
    pattern_of = [seen.setdefault(column.tobytes(), len(seen)) for column in present.T]
    patterns = present[:, [pattern_of.index(pattern) for pattern in range(len(seen))]]
    # One product gives the sums, followed by the total weights.
    factors = np.hstack([distances, patterns * weight])
    columns = values.shape[1]
    means = np.empty((resamples, columns))
    begin = 0
    for counts in resampled_counts([len(rows) for rows in strata], resamples, seed):
        sums = counts @ factors
        totals = sums[:, columns:][:, pattern_of]
        with np.errstate(invalid="ignore"):
            np.divide(sums[:, :columns], totals, out=means[begin : begin + len(counts)])
        begin += len(counts)
    means += centers
    return means


METHODS = {
    "percentile": "the central share of the means of resampled queries",
    "bca": "percentile, corrected for bias and for variance that changes with the mean",
    "t": "mean and standard error with Student's t; no resampling",
}
RESAMPLES = 10_000
# Number of columns per pass over the draws: their resampled means take 40 MB.
MOST_COLUMNS = 512


def mean_intervals(
    values: Floats,
    level: float = 0.95,
    *,
    method: str = "percentile",
    resamples: int = RESAMPLES,
    seed: int = 0,
    weights: Sequence[float] | None = None,
    strata: Sequence[str] | None = None,
    kinds: Sequence[MeanKind] | None = None,
    bounded: Sequence[bool] | None = None,
    parts: Sequence[str] | None = None,
    shares: Mapping[str, float] | None = None,
) -> list[Interval]:
    """Compute an interval for the mean of each column, from the same resamples of the queries.

    Examples
    --------
    >>> columns = np.column_stack([[0.0, 1.0] * 20, [0.5] * 40])
    >>> [(one.low, one.high) for one in mean_intervals(columns, resamples=1000, seed=1)]
    [(0.35, 0.65), (0.5, 0.5)]
    >>> [(round(one.low, 4), round(one.high, 4)) for one in mean_intervals(columns, method="t")]
    [(0.3381, 0.6619), (0.5, 0.5)]
    """
    table = np.asarray(values, dtype=np.float64)
    weight, groups = _checked(len(table), weights, strata)
    plan = _Plan(weight, groups, level, method, resamples, seed, _parts(len(table), parts, shares))
    kind: list[MeanKind] = list(kinds) if kinds else ["arithmetic"] * table.shape[1]
    results: list[Interval] = []
    for begin in range(0, table.shape[1], MOST_COLUMNS):
        end = begin + MOST_COLUMNS
        results += _intervals(table[:, begin:end], kind[begin:end], plan)
    return [within(one) if cut else one for one, cut in zip(results, bounded or [False] * len(results), strict=True)]


@dataclass(frozen=True, eq=False)
class _Plan:
    """The common data of all columns: the weights and tiers of the queries, and the interval settings."""

    weight: Floats
    groups: dict[str, Places]
    level: float
    method: str
    resamples: int
    seed: int
    parts: tuple[tuple[str, float, Floats], ...] = ()  # name, share, and 1 for each row of it

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise NotValid(f"the level is {self.level:g}; use a number between 0 and 1, such as 0.95")
        if self.method not in METHODS:
            raise NotValid(f"unknown interval method {self.method!r}; known: {', '.join(METHODS)}")
        if self.resamples < 1:
            raise NotValid(f"the number of resamples is {self.resamples}; use a whole number, such as {RESAMPLES:,}")
        if self.seed < 0:
            raise NotValid(f"the seed is {self.seed}; use a whole number, 0 or more")

    @property
    def strata(self) -> list[Places]:
        """Return the rows of each tier."""
        return list(self.groups.values())


def _checked(
    queries: int, weights: Sequence[float] | None, strata: Sequence[str] | None
) -> tuple[Floats, dict[str, Places]]:
    weight = np.ones(queries) if weights is None else np.asarray(weights, dtype=np.float64)
    names = np.zeros(queries, dtype=np.str_) if strata is None else np.asarray(strata)
    if not queries == len(weight) == len(names):
        raise NotValid(
            f"{amount(queries, 'query', 'queries')}, {amount(len(weight), 'weight')} and "
            f"{amount(len(names), 'tier')}; the numbers must match"
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise NotValid("a weight is below 0 or not a number; use each query's share of traffic")
    return weight, {str(name): np.flatnonzero(names == name) for name in np.unique(names)}


def _parts(
    queries: int, parts: Sequence[str] | None, shares: Mapping[str, float] | None
) -> tuple[tuple[str, float, Floats], ...]:
    names = np.zeros(queries, dtype=np.str_) if parts is None else np.asarray(parts)
    weights = {str(name): 1.0 for name in np.unique(names)} if shares is None else shares
    total = sum(weights[str(name)] for name in np.unique(names))
    return tuple((str(name), weights[str(name)] / total, (names == name).astype(float)) for name in np.unique(names))


def _intervals(values: Floats, kinds: Sequence[MeanKind], plan: _Plan) -> list[Interval]:
    reasons = [_refusal(values[:, at], kind, plan) for at, kind in enumerate(kinds)]
    left = [at for at, reason in enumerate(reasons) if reason is None]
    bounds = [Interval(None, None, reason) for reason in reasons]
    if left:
        logged = [kinds[at] == "geometric" for at in left]
        columns = np.where(logged, np.log(np.maximum(values[:, left], GEOMETRIC_FLOOR)), values[:, left])
        for at, bound, is_logged in zip(left, _bounds(columns, plan), logged, strict=True):
            bounds[at] = _mapped_back(bound) if is_logged else bound
    return bounds


def _refusal(column: Floats, kind: MeanKind, plan: _Plan) -> str | None:
    counts = ~np.isnan(column)
    if kind == "sum":
        return "a sum over the queries has no interval"
    if np.count_nonzero(counts & (plan.weight > 0)) < LEAST_QUERIES:
        return f"fewer than {LEAST_QUERIES} queries"
    for name, _, inside in plan.parts:
        if not np.count_nonzero(counts & (plan.weight * inside > 0)):
            return f"no query of the stratum {name!r} has a score and a weight"
    lonely = [name for name, rows in plan.groups.items() if np.count_nonzero(counts[rows]) == 1]
    if lonely and len(plan.groups) > 1:
        return f"the tier {lonely[0]!r} has only one query, so its variance is unknown"
    return None


def _bounds(columns: Floats, plan: _Plan) -> list[Interval]:
    weight, strata = plan.weight, plan.strata
    # A mean over several parts is a sum of means, and so are its changes: in each part, the others have weight 0.
    own = [(share, weight * inside) for _, share, inside in plan.parts]
    of_parts = [np.array([_center(column, part) for column in columns.T]) for _, part in own]
    centers = np.sum([share * parts for (share, _), parts in zip(own, of_parts, strict=True)], axis=0)
    if plan.method == "t":
        parts = [share * _influences(columns, c, part, strata) for (share, part), c in zip(own, of_parts, strict=True)]
        return _t(columns, centers, np.sum(parts, axis=0), strata, plan.level)
    drawn = [
        share * resampled_means(columns, c, part, strata, resamples=plan.resamples, seed=plan.seed)
        for (share, part), c in zip(own, of_parts, strict=True)
    ]
    means = np.sum(drawn, axis=0)
    if plan.method == "percentile":
        return [_of_resamples(of, center, None, plan.level) for of, center in zip(means.T, centers, strict=True)]
    moved = [share * _jackknife(columns, c, part, strata) for (share, part), c in zip(own, of_parts, strict=True)]
    moves = np.sum(moved, axis=0)
    return [
        _of_resamples(of, center, theirs, plan.level)
        for of, center, theirs in zip(means.T, centers, moves.T, strict=True)
    ]


def _center(column: Floats, weight: Floats) -> float:
    counts = ~np.isnan(column)
    # _refusal ensures that some weight counts.
    return hajek_mean(column[counts].tolist(), weight[counts].tolist()) or 0.0


def _of_resamples(means: Floats, center: float, moves: Floats | None, level: float) -> Interval:
    means = means[~np.isnan(means)]
    if not len(means):
        return Interval(None, None, "no resample contains a query with weight")
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    if moves is not None:
        shifted = _bca_ends(means, center, moves, ends)
        if isinstance(shifted, str):
            return Interval(None, None, shifted)
        ends = shifted
    low, high = np.quantile(means, ends)
    return Interval(float(low), float(high))


def _bca_ends(means: Floats, center: float, moves: Floats, ends: Floats) -> Floats | str:
    """Return the quantiles that replace those of the percentile method, or why there are none."""
    from scipy.special import ndtr, ndtri

    # The same resample summed in another order differs by rounding; such means are ties.
    near = 1e-12 * max(1.0, float(np.abs(means).max()))
    share = (np.count_nonzero(means < center - near) + np.count_nonzero(means <= center + near)) / (2 * len(means))
    if not 0 < share < 1:
        return "bca is undefined because all resamples are on one side of the mean; use percentile or t"
    spread = float((moves**2).sum())
    # NaN if one query has all the weight, because there is then no scale.
    acceleration = float((moves**3).sum()) / (6 * spread**1.5) if spread else 0.0
    bias = ndtri(share)
    shifted = bias + ndtri(ends)
    scale = 1 - acceleration * shifted
    if not (scale > 0).all():
        return "bca is undefined because a few queries outweigh all others; use percentile or t"
    moved: Floats = ndtr(bias + shifted / scale)
    return moved


def _t(values: Floats, centers: Floats, influences: Floats, strata: Sequence[Places], level: float) -> list[Interval]:
    from scipy.special import stdtrit

    variance, freedom = np.zeros(len(centers)), np.zeros(len(centers))
    for rows in strata:
        counted = np.count_nonzero(~np.isnan(values[rows]), axis=0)
        squares = (influences[rows] ** 2).sum(axis=0)
        variance += squares * counted / np.maximum(counted - 1, 1)
        freedom += np.maximum(counted - 1, 0)
    reach = stdtrit(freedom, (1 + level) / 2) * np.sqrt(variance)
    return [Interval(float(low), float(high)) for low, high in zip(centers - reach, centers + reach, strict=True)]


def _influences(values: Floats, centers: Floats, weight: Floats, strata: Sequence[Places]) -> Floats:
    """Return the influence of each query on each column's mean, shape (queries, columns); 0 if it is left out."""
    present = ~np.isnan(values)
    pulls = np.where(present, weight[:, None] * (values - centers), 0.0)
    return _inside(pulls / (present * weight[:, None]).sum(axis=0), present, strata)


def _jackknife(values: Floats, centers: Floats, weight: Floats, strata: Sequence[Places]) -> Floats:
    """Return the change of each column's mean if a query is left out, shape (queries, columns)."""
    present = ~np.isnan(values)
    pulls = np.where(present, weight[:, None] * (values - centers), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pulls /= (present * weight[:, None]).sum(axis=0) - weight[:, None]
        moved = _inside(pulls, present, strata)
    for rows in strata:
        inside = np.count_nonzero(present[rows], axis=0)
        moved[rows] *= (inside - 1) / np.maximum(inside, 1)
    return moved


def _inside(pulls: Floats, present: npt.NDArray[np.bool_], strata: Sequence[Places]) -> Floats:
    """Subtract the mean of each stratum, because strata are not sampled."""
    for rows in strata:
        inside = np.maximum(np.count_nonzero(present[rows], axis=0), 1)
        pulls[rows] -= np.where(present[rows], pulls[rows].sum(axis=0) / inside, 0.0)
    return pulls


def _mapped_back(bound: Interval) -> Interval:
    if bound.low is None or bound.high is None:
        return bound
    return Interval(float(np.exp(bound.low)), float(np.exp(bound.high)))
