"""Discovery curve: relevant documents by pool depth, and an estimate of relevant documents at deeper ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.qrels import Qrels
from assay.core.text_rules import amount
from assay.estimators.pooled_documents import Pooled
from assay.estimators.residual_sample import CURVE, LEVEL, Missed
from assay.metrics.judged_rankings import Floats, Integers

# A depth counts as fully judged if at most this share of its documents is unjudged.
WHOLE = 0.95
# With fewer, the decrease of relevant documents cannot be estimated.
LEAST_DEPTH, LEAST_QUERIES, LEAST_RELEVANT = 10, 10, 20
# How fast relevant documents become rarer: slow, medium, fast. Powers of the depth; 0 means its logarithm.
SHAPES = (0.0, 0.25, 0.5)
RESAMPLES = 1_000
STEPS = 30


@dataclass(frozen=True, eq=False)
class Discovery:
    """Number of documents that each depth adds to the pool."""

    judged: Integers
    relevant: Integers
    unjudged: Integers
    whole: int

    @property
    def depth(self) -> int:
        """Return the number of ranks that were counted."""
        return int(self.judged.shape[1])

    def steps(self) -> list[dict[str, int]]:
        """Return the cumulative counts by depth: documents pooled, judged, relevant."""
        judged, relevant, unjudged = (
            part.sum(axis=0).cumsum().tolist() for part in (self.judged, self.relevant, self.unjudged)
        )
        return [
            {"depth": depth, "pooled": judged[at] + unjudged[at], "judged": judged[at], "relevant": relevant[at]}
            for at, depth in enumerate(range(1, self.depth + 1))
        ]

    def as_json(self) -> dict[str, Any]:
        return {"whole": self.whole, "depth": self.depth, "steps": self.steps()}


def discovery(qrels: Qrels, pooled: Pooled, rel: float = 1) -> Discovery:
    """Count the documents that each depth adds.

    Parameters
    ----------
    qrels : Qrels
        The labels.
    pooled : Pooled
        The documents that the runs return.
    rel : float
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from assay.estimators.pooled_documents import pooled
    >>> from assay.core.run import Run
    >>> qrels = Qrels.from_dict({"q1": {"a": 1, "b": 0}})
    >>> run = Run.from_dict({"q1": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> curve = discovery(qrels, pooled(qrels, [run], 10))
    >>> curve.whole, [step["relevant"] for step in curve.steps()], curve.unjudged.tolist()
    (2, [1, 1, 1], [[0, 0, 1]])
    """
    depth = int(pooled.best_rank.max(initial=0))
    known = pooled.place >= 0
    good = known & (qrels.grades[pooled.place] >= rel)
    judged, relevant, unjudged = (_counts(qrels.queries, pooled, depth, part) for part in (known, good, ~known))
    of_judged, of_all = judged.sum(axis=0), judged.sum(axis=0) + unjudged.sum(axis=0)
    holes = np.flatnonzero(of_judged < WHOLE * of_all)
    return Discovery(judged, relevant, unjudged, int(holes[0]) if len(holes) else depth)


def _counts(queries: int, pooled: Pooled, depth: int, which: Any) -> Integers:
    cells = pooled.query[which] * depth + pooled.best_rank[which] - 1
    counts: Integers = np.bincount(cells, minlength=queries * depth).reshape(queries, depth)
    return counts


def missed_by_curve(curve: Discovery, level: float = LEVEL, seed: int = 0) -> Missed:
    """Estimate the missed relevant documents by extrapolating how they become rarer with depth."""
    relevant, unjudged = int(curve.relevant.sum()), int(curve.unjudged.sum())
    queries = int((curve.judged.sum(axis=1) > 0).sum())
    if not unjudged:
        whole = "all documents that the contributors return are judged"
        return Missed(0.0, 0.0, 0.0, CURVE, relevant, 0, queries, level, None, (whole,))
    reason = _why_not(curve, queries)
    interval = None if reason else _carried_on(curve, level, seed)
    if interval is None:
        reason = reason or "relevant documents do not become rarer with depth here, so their total cannot be estimated"
        return Missed(None, None, None, CURVE, relevant, unjudged, queries, level, reason)
    assumed = (
        (
            f"the estimate assumes that relevant documents become rarer below rank {curve.whole} at the same rate as "
            "above it"
        ),
        "documents that no run returns are not part of the estimate",
    )
    return Missed(*interval, CURVE, relevant, unjudged, queries, level, None, assumed)


def _why_not(curve: Discovery, queries: int) -> str | None:
    relevant = int(curve.relevant[:, : curve.whole].sum())
    if curve.whole < LEAST_DEPTH:
        return (
            f"the runs are fully judged only to rank {curve.whole:,}, and an estimate needs {LEAST_DEPTH} ranks "
            "or more; draw a pool with a residual stratum"
        )
    if queries < LEAST_QUERIES:
        return (
            f"{amount(queries, 'judged query is', 'judged queries are')} too few to extrapolate a curve; at "
            f"least {LEAST_QUERIES} are needed"
        )
    if relevant < LEAST_RELEVANT:
        return (
            f"{amount(relevant, 'relevant document is', 'relevant documents are')} too few to extrapolate a "
            f"curve; at least {LEAST_RELEVANT} are needed"
        )
    return None


def _carried_on(curve: Discovery, level: float, seed: int) -> tuple[float, float, float] | None:
    """Return the estimate with its interval; None if the curve does not decrease."""
    queries = len(curve.judged)
    draws = np.random.default_rng(seed).multinomial(queries, np.full(queries, 1 / queries), RESAMPLES)
    times: Floats = np.concatenate((np.ones((1, queries)), draws.astype(np.float64)))
    slow, middle, fast = (_totals(curve, times, shape) for shape in SHAPES)
    if np.isnan([slow[0], middle[0], fast[0]]).any():
        return None
    low, high = np.nanquantile(fast[1:], (1 - level) / 2), np.nanquantile(slow[1:], (1 + level) / 2)
    return float(middle[0]), float(low), float(high)


def _totals(curve: Discovery, times: Floats, shape: float) -> Floats:
    """Return the estimate in each draw of the queries, shape (draws,); NaN if relevant documents do not become
    rarer.
    """
    ranks = np.arange(1.0, curve.depth + 1)
    x = np.log(ranks) if not shape else (ranks**shape - 1) / shape
    judged, relevant = (part[:, : curve.whole].astype(np.float64) for part in (curve.judged, curve.relevant))
    a, b = _fitted(x[: curve.whole], times @ judged, times @ relevant)
    with np.errstate(invalid="ignore"):
        shares = np.minimum(np.exp(np.clip(a[:, None] + b[:, None] * x, -700, 0)), 1.0)
    totals: Floats = ((times @ curve.unjudged.astype(np.float64)) * shares).sum(axis=1)
    return np.where(b < 0, totals, np.nan)


def _fitted(x: Floats, tried: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Fit hits = tried exp(a + b x) as Poisson counts by Newton's method, row by row; NaN if it does not converge."""
    mean = float(x.mean())
    centered = x - mean
    share = np.maximum(hits.sum(axis=1), 0.5) / np.maximum(tried.sum(axis=1), 1.0)
    a, b = np.log(share), np.zeros(len(tried))
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            weight = tried * np.exp(np.clip(a[:, None] + b[:, None] * centered, -30, 30))
            off = hits - weight
            w0, w1, w2 = (weight * centered**power for power in range(3))
            s0, s1, s2 = w0.sum(axis=1), w1.sum(axis=1), w2.sum(axis=1)
            g0, g1 = off.sum(axis=1), (off * centered).sum(axis=1)
            det = s0 * s2 - s1 * s1
            step_a, step_b = (s2 * g0 - s1 * g1) / det, (s0 * g1 - s1 * g0) / det
            a, b = a + np.clip(step_a, -2, 2), b + np.clip(step_b, -2, 2)
            if np.nanmax(np.abs(step_a) + np.abs(step_b)) < 1e-9:
                break
    settled = np.abs(step_a) + np.abs(step_b) < 1e-6
    return np.where(settled, a - b * mean, np.nan), np.where(settled, b, np.nan)
