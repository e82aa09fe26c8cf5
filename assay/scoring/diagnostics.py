"""Diagnostics of a run (facts that affect the interpretation of its scores), and the similarity of two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_column import SPREAD, Groups, Keys, Places, Texts, grouped
from assay.formats.stored_run import stored_order
from assay.formats.trec_run import RunRows
from assay.metrics.judged_rankings import Integers, Match

if TYPE_CHECKING:
    from assay.scoring.score_ranges import Range, TiedRange

TOP = 10
MOST_NAMED = 5


@dataclass(frozen=True)
class Depth:
    """Number of documents returned for the judged queries that the run answers."""

    min: int
    median: float
    max: int


@dataclass(frozen=True)
class Diagnostics:
    """Facts about a run that affect the interpretation of its scores."""

    rows: int
    ties: float
    duplicates: int
    queries_missing: int
    queries_unjudged: int
    queries_without_relevant: int
    holes: int
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    queries_negative: int = 0
    negative: int = 0
    least_judged: str | None = None
    float32_ties: int = 0
    depth: Depth | None = None
    ranks_contradicted: int = 0
    identical_to: tuple[str, ...] = ()
    fingerprint: int = 0
    ties_at: Mapping[str, TiedRange] = field(default_factory=dict)
    bounds: Mapping[str, Range] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the fields under the names of the JSON output."""
        depth = self.depth
        return {
            "rows": self.rows,
            "ties": self.ties,
            "duplicates": self.duplicates,
            "queries_missing": self.queries_missing,
            "queries_unjudged": self.queries_unjudged,
            "queries_without_relevant": self.queries_without_relevant,
            "queries_negative": self.queries_negative,
            "missing": list(self.missing),
            "unjudged": list(self.unjudged),
            "holes@10": self.holes,
            "negative@10": self.negative,
            "least_judged": self.least_judged,
            "float32_ties": self.float32_ties,
            "ranks_contradicted": self.ranks_contradicted,
            "identical_to": list(self.identical_to),
            "depth": depth and {"min": depth.min, "median": depth.median, "max": depth.max},
            "ties_at": {name: asdict(one) for name, one in self.ties_at.items()},
            "bounds": {name: asdict(one) for name, one in self.bounds.items()},
        }


@dataclass
class Findings:
    """Diagnostics of a run, collected while its parts are processed."""

    rows: int = 0
    tied: int = 0
    negative: int = 0
    float32_ties: int = 0
    fingerprint: int = 0
    unjudged: list[str] = field(default_factory=list)
    queries_unjudged: int = 0
    sizes: list[Integers] = field(default_factory=list)
    holes: list[Integers] = field(default_factory=list)
    codes: list[Integers] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """Return how many judged queries the run answers, as far as processed."""
        return sum(map(len, self.codes))

    def look(self, qrels: Qrels, run: Run, matched: Match) -> None:
        """Process some queries of the run."""
        rankings = matched.rankings
        top = rankings.ranks <= TOP
        self.rows += len(run)
        self.tied += run.tied_rows
        self.float32_ties += _float32_ties(run)
        self.negative += int(np.count_nonzero(rankings.grades[top] < 0))
        self.fingerprint = (self.fingerprint + _fingerprint(run)) % 2**64
        self.sizes.append(rankings.returned)
        self.holes.append(np.minimum(rankings.returned, TOP) - rankings.count(top))
        self.codes.append(matched.codes)
        foreign = run.queries - len(matched.codes)
        self.queries_unjudged += foreign
        if foreign:
            names = (query_id for query_id in run.query_ids if query_id not in qrels.codes)
            self.unjudged = sorted([*self.unjudged, *names])[:MOST_NAMED]

    def unanswered(self, qrels: Qrels) -> list[str]:
        """Return the judged queries that have not been processed."""
        if self.answered == qrels.queries:
            return []
        unanswered_mask = np.ones(qrels.queries, dtype=np.bool_)
        unanswered_mask[_joined(self.codes)] = False
        return [qrels.query_ids[at] for at in np.flatnonzero(unanswered_mask).tolist()]

    def diagnostics(self, qrels: Qrels) -> Diagnostics:
        """Return the diagnostics after the whole run was processed."""
        codes, sizes, holes = (_joined(parts) for parts in (self.codes, self.sizes, self.holes))
        missing = self.unanswered(qrels)
        best = qrels.highest
        return Diagnostics(
            rows=self.rows,
            ties=self.tied / self.rows if self.rows else 0.0,
            duplicates=qrels.duplicates,
            queries_missing=len(missing),
            queries_unjudged=self.queries_unjudged,
            queries_without_relevant=int(np.count_nonzero(best <= 0)),
            holes=int(holes.sum()),
            missing=tuple(missing[:MOST_NAMED]),
            unjudged=tuple(self.unjudged),
            queries_negative=int(np.count_nonzero(best < 0)),
            negative=self.negative,
            least_judged=_least_judged(qrels.query_ids, codes, sizes, holes),
            float32_ties=self.float32_ties,
            fingerprint=self.fingerprint,
            depth=Depth(int(sizes.min()), float(np.median(sizes)), int(sizes.max())) if len(sizes) else None,
        )


def _joined(parts: Sequence[Integers]) -> Integers:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _fingerprint(run: Run) -> int:
    """Return a sum over all rows, which does not depend on the order of the queries."""
    sizes = run.offsets[1:] - run.offsets[:-1]
    keys = run.doc_ids.keys() + np.repeat(Texts.of(run.query_ids).keys(), sizes) * SPREAD
    keys ^= keys >> np.uint64(32)
    ranks = np.arange(len(run)) - np.repeat(run.offsets[:-1], sizes)
    return int((keys * (2 * ranks + 1).astype(np.uint64)).sum(dtype=np.uint64))


def with_twins(named: Sequence[tuple[str, Diagnostics]]) -> list[Diagnostics]:
    """Add to each run the names of other runs with the same rankings."""
    by_fingerprint: dict[int, list[str]] = {}
    for name, one in named:
        by_fingerprint.setdefault(one.fingerprint, []).append(name)
    with_names = []
    for name, one in named:
        twins = tuple(twin for twin in by_fingerprint[one.fingerprint] if twin != name)
        with_names.append(one if one.identical_to == twins else replace(one, identical_to=twins))
    return with_names


def _float32_ties(run: Run) -> int:
    with np.errstate(over="ignore"):
        cut = run.scores.astype(np.float32)
    equal = cut[1:] == cut[:-1]
    if not equal.any():
        return 0
    equal &= run.scores[1:] != run.scores[:-1]
    equal[run.offsets[1:-1] - 1] = False
    return int(np.count_nonzero(equal))


def _least_judged(query_ids: Sequence[str], codes: Integers, sizes: Integers, holes: Integers) -> str | None:
    if not len(codes) or not holes.any():
        return None
    shares = holes / np.minimum(sizes, TOP)
    worst = codes[shares == shares.max()]
    return query_ids[int(worst.min())]


DEPTH = 10
PERSISTENCE = 0.9


@dataclass(frozen=True)
class Tops:
    """The first documents of some queries, as numbers."""

    keys: Keys
    sizes: Places


@dataclass(frozen=True)
class Likeness:
    """The similarity of two runs, over the queries that either answers; None if there is no such query."""

    jaccard: float | None
    rbo: float | None
    same: int
    queries: int


def tops(run: Run, query_ids: Sequence[str], depth: int = DEPTH) -> Tops:
    """Return the first documents of these queries; none for a query that the run does not answer."""
    keys = np.zeros((len(query_ids), depth), dtype=np.uint64)
    sizes = np.zeros(len(query_ids), dtype=np.int64)
    place = {query_id: at for at, query_id in enumerate(run.query_ids)}
    positions = np.array([place.get(query_id, -1) for query_id in query_ids], dtype=np.int64)
    here = np.flatnonzero(positions >= 0)
    starts = run.offsets[positions[here]]
    sizes[here] = np.minimum(run.offsets[positions[here] + 1] - starts, depth)
    for rank in range(depth):
        rows = here[sizes[here] > rank]
        keys[rows, rank] = run.doc_ids.take(run.offsets[positions[rows]] + rank).keys()
    return Tops(keys, sizes)


def likeness(one: Tops, other: Tops, p: float = PERSISTENCE) -> Likeness:
    """Compare two runs query by query.

    Examples
    --------
    >>> first = Run.from_dict({"q1": {"d1": 3, "d2": 2}})
    >>> second = Run.from_dict({"q1": {"d2": 3, "d1": 2}})
    >>> found = likeness(tops(first, ["q1"]), tops(second, ["q1"]))
    >>> found.jaccard, round(found.rbo, 2), found.same
    (1.0, 0.9, 0)
    """
    longest = np.maximum(one.sizes, other.sizes)
    answered = np.flatnonzero(longest)
    if not len(answered):
        return Likeness(None, None, 0, 0)
    shared = _shared(one, other, answered)
    sizes, others, ends = one.sizes[answered], other.sizes[answered], longest[answered]
    both = shared[:, -1]
    jaccard = both / (sizes + others - both)
    depth = np.arange(1, shared.shape[1] + 1)
    agreement = 2 * shared / (np.minimum.outer(sizes, depth) + np.minimum.outer(others, depth))
    weights = np.where(depth <= ends[:, None], p**depth, 0.0)
    last = agreement[np.arange(len(ends)), ends - 1]
    rbo = last * p**ends + (1 - p) / p * (agreement * weights).sum(axis=1)
    same = (one.keys[answered] == other.keys[answered]).all(axis=1)
    return Likeness(float(jaccard.mean()), float(rbo.mean()), int(np.count_nonzero(same)), len(answered))


def _shared(one: Tops, other: Tops, queries: Places) -> npt.NDArray[np.int64]:
    """Return the number of common documents among the first d of both, shape (queries, depth)."""
    left, right = one.keys[queries], other.keys[queries]
    depth = left.shape[1]
    rank = np.arange(depth)
    inside = (rank < one.sizes[queries, None])[:, :, None] & (rank < other.sizes[queries, None])[:, None, :]
    equal = (left[:, :, None] == right[:, None, :]) & inside
    # A document counts from the rank at which both have it.
    at = np.maximum(rank[:, None], rank[None, :])
    new = np.stack([equal[:, at == d].sum(axis=1) for d in range(depth)], axis=1)
    return np.cumsum(new, axis=1)


# More bars than this are unreadable.
MOST_DEPTHS = 12
# From this share of tied rows on, a run's order is mostly arbitrary.
MOSTLY = 0.75


@dataclass(frozen=True)
class Figures:
    """Quality figures of a run."""

    rows: int
    queries: int
    smallest: int
    median: int
    largest: int
    tied_rows: int
    tied_queries: int
    ranked_rows: int
    against_rows: int
    against_queries: int
    reordered_rows: int
    first_against: str | None
    infinite: int

    @property
    def ties(self) -> float | None:
        """Return the share of tied rows; None for a run without rows."""
        return self.tied_rows / self.rows if self.rows else None

    @property
    def mostly_tied(self) -> bool:
        """Return whether most rows have an arbitrary position."""
        return (self.ties or 0.0) >= MOSTLY


def figures(rows: RunRows) -> Figures:
    """Return the figures of a run's rows.

    Examples
    --------
    >>> from assay.formats.row_types import RunRow
    >>> rows = [RunRow("q1", "d1", 2.0, 2), RunRow("q1", "d2", 1.0, 1), RunRow("q2", "d1", 1.0, 1)]
    >>> found = figures(RunRows.of(rows))
    >>> found.largest, found.against_rows, found.first_against
    (2, 2, 'q1')
    """
    groups = grouped(rows.query_ids)
    order = stored_order(rows)
    query, scores = groups.query_of[order], rows.scores[order]
    depths = np.sort(np.diff(groups.offsets))
    same = (scores[1:] == scores[:-1]) & (query[1:] == query[:-1])
    tied = np.zeros(len(scores), dtype=np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    against, reordered = _displaced(rows, groups, order)
    contradicted = np.unique(query[against])
    return Figures(
        rows=len(scores),
        queries=len(groups.names),
        smallest=int(depths[0]) if len(depths) else 0,
        median=int(depths[len(depths) // 2]) if len(depths) else 0,
        largest=int(depths[-1]) if len(depths) else 0,
        tied_rows=int(np.count_nonzero(tied)),
        tied_queries=len(np.unique(query[tied])),
        ranked_rows=int(np.count_nonzero(np.isfinite(rows.ranks_within(groups)))) if rows.ranks.any() else 0,
        against_rows=int(np.count_nonzero(against)),
        against_queries=len(contradicted),
        reordered_rows=int(np.count_nonzero(reordered)),
        first_against=groups.names[int(contradicted[0])] if len(contradicted) else None,
        infinite=int(np.count_nonzero(np.isinf(scores))),
    )


def _displaced(rows: RunRows, groups: Groups, order: Places) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions in the score order that have another row in the rank order: with another score, and with the
    same score."""
    if not rows.ranks.any():
        return np.zeros(len(order), dtype=np.bool_), np.zeros(len(order), dtype=np.bool_)
    query, ranks = groups.query_of[order], rows.ranks_within(groups)[order]
    if ((query[1:] != query[:-1]) | (ranks[1:] >= ranks[:-1])).all():
        return np.zeros(len(order), dtype=np.bool_), np.zeros(len(order), dtype=np.bool_)
    scores = rows.scores[order]
    without = np.bincount(query, weights=np.isinf(ranks), minlength=len(groups.names)) > 0
    by_rank = np.lexsort((ranks, query))
    moved = (by_rank != np.arange(len(order))) & ~without[query]
    against = moved & (scores[by_rank] != scores)
    return against, moved & ~against


def depths(counts: Sequence[int], most: int = MOST_DEPTHS) -> list[tuple[int, int, int]]:
    """Return the number of queries by number of documents, as (from, to, queries), shallow ones first.

    Examples
    --------
    >>> depths([3, 0, 3, 10]), depths([1, 2, 3, 4], most=2)
    ([(0, 0, 1), (3, 3, 2), (10, 10, 1)], [(1, 2, 2), (3, 4, 2)])
    """
    distinct, times = np.unique(np.asarray(counts, dtype=np.int64), return_counts=True)
    if len(distinct) <= most:
        return [(depth, depth, number) for depth, number in zip(distinct.tolist(), times.tolist(), strict=True)]
    low, high = int(distinct[0]), int(distinct[-1])
    width = -(-(high - low + 1) // most)
    ranges = []
    for start in range(low, high + 1, width):
        inside = (distinct >= start) & (distinct < start + width)
        ranges.append((start, min(start + width - 1, high), int(times[inside].sum())))
    return ranges
